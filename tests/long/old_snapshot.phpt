--TEST--
Databases: an old snapshot, as a report or a dump has it, does not slow locks down over 20,000 pairs of acquire and release; its rows go with it
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

$pairs = (int) (getenv('DLOCK_TEST_PAIRS') ?: 20_000);

/** Pages that the server has read for locks so far: the same number on every machine. */
function pages(PrivateDatabase $server, string $kind): int
{
    return (int) $server->query($kind === 'pgsql'
        ? "SELECT sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) AS n FROM pg_statio_user_tables WHERE schemaname = 'dlock'"
        : "SELECT variable_value AS n FROM information_schema.global_status WHERE variable_name = 'innodb_buffer_pool_read_requests'")[0]['n'];
}

/** Bytes of the tables, and of what the server keeps for old snapshots. */
function size(PrivateDatabase $server, string $kind): int
{
    clearstatcache();
    return $kind === 'pgsql' ? (int) $server->query("SELECT pg_total_relation_size('dlock.locks') AS n")[0]['n']
        : array_sum(array_map(filesize(...), glob("$server->dir/data/{ibdata*,undo*,shop/*.ibd}", GLOB_BRACE)));
}

/** Pages for a pair. The server counts them when the session has ended. */
function cost(PrivateDatabase $server, string $kind, string $dsn, int $pairs): float
{
    $before = pages($server, $kind);
    $child = fork_child(function () use ($dsn, $pairs) {
        $locks = new DistributedLock($dsn, ttl: 100);
        for ($i = 0; $i < $pairs; $i++) {
            $locks->acquire('pair', 0)->release();
        }
        return $i;
    }, [], 'kill'); // so that the child ends no session of its parent
    same($pairs, $child->result(600), "$kind: pairs");
    wait_for(fn () => $kind !== 'pgsql' || $server->sessions() === [], 60, "$kind: its session to end");
    return (pages($server, $kind) - $before) / $pairs;
}

foreach (private_databases() as $kind => $server) {
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $cost = fn (int $pairs) => cost($server, $kind, $dsn, $pairs);
    $cost(200);
    $usual = $cost(1000);
    $report = $server->pdo();
    $report->exec($kind === 'pgsql' ? 'BEGIN ISOLATION LEVEL REPEATABLE READ' : 'START TRANSACTION WITH CONSISTENT SNAPSHOT');
    $report->query('SELECT 1')->fetchAll();
    $before = size($server, $kind);
    $first = $cost(1000);
    $cost($pairs - 2000);
    $last = $cost(1000);
    $grown = size($server, $kind) - $before;
    within(1, $last, 2 * max($usual, $first), "$kind: pages for a pair after $pairs; before: $usual, $first");
    within(0, $grown, max(1000 * $pairs, 20_000_000), "$kind: bytes that were kept for the snapshot");
    $report->exec('ROLLBACK');
    $kind !== 'pgsql' || $server->query('VACUUM dlock.locks');
    $before = size($server, $kind);
    $cost(1000);
    within(0, size($server, $kind) - $before, $kind === 'pgsql' ? 100_000 : 1_000_000, "$kind: more bytes once it is over");
}
echo "done\n";
?>
--EXPECT--
done
