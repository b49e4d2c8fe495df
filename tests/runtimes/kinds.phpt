--TEST--
Runtimes: what happens to a wait, and who owns a lock, row by row: behind Sentinels, in a cluster, in PostgreSQL and MariaDB
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/wait_rows.inc';
require __DIR__ . '/../inc/database.inc';
require __DIR__ . '/../inc/replicated.inc';

/**
 * A kind whose masters Sentinels or the cluster find. $master: fn (?string $resource): RedisRaw. For null it returns a
 * master whose connections are ended.
 */
function replicated_kind(string $name, string $dsn, Closure $master): WaitKind
{
    $keys = fn (string $resource, string $of) => [...$master($resource)->cmd('KEYS', "{$of}Lock:$resource"), ...$master($resource)->cmd('KEYS', "{$of}Lock:$resource}")];
    return new WaitKind($name, 'new DistributedLock(' . var_export($dsn, true) . ', ...$options)',
        fn (string $resource) => array_sum(array_map(fn (string $key) => $master($resource)->cmd('ZCARD', $key), $keys($resource, 'dlock:queue:*'))),
        fn (string $resource) => [...$keys($resource, ''), ...$keys($resource, 'dlock:queue:*'), ...$keys($resource, 'dlock:waiters:*')] === [],
        function () use ($master) {
            foreach (['pubsub', 'normal'] as $type) {
                $master(null)->cmd('CLIENT', 'KILL', 'TYPE', $type, 'SKIPME', 'yes');
            }
        }, fn (string $resource) => $master($resource)->cmd('DEL', "Lock:$resource"));
}

function database_kind(string $name, PrivateDatabase $database, int $suspensions): WaitKind
{
    $looks = new DistributedLock($database->dsn());
    return new WaitKind($name, 'new DistributedLock(' . var_export($database->dsn(), true) . ', ...$options)', fn (string $resource) => $database->livingWaiters("Lock:$resource"),
        fn (string $resource) => $database->livingWaiters("Lock:$resource") === 0 && !$looks->isLocked($resource),
        fn () => array_map($database->endSession(...), $database->sessions()), fn (string $resource) => $database->takeAway("Lock:$resource"), suspensions: $suspensions);
}

$sentinels = new SentinelSet();
$cluster = new ClusterSet();
$cut = null; // the master of the resource that strands wait for
$of_cluster = function (?string $resource) use ($cluster, &$cut): RedisRaw {
    static $raw = [];
    $resource === null || ($cut = $cluster->masterOf(key_slot("Lock:$resource")));
    return $raw[getmypid() . $cut->address()] ??= $cut->raw();
};
$of_sentinels = function (?string $resource) use ($sentinels): RedisRaw {
    static $raw = [];
    return $raw[getmypid()] ??= $sentinels->master()->raw();
};
run_rows([
    replicated_kind('Sentinel', $sentinels->dsn(), $of_sentinels),
    replicated_kind('Cluster', $cluster->dsn(), $of_cluster),
    database_kind('pgsql', new PrivatePostgres(), 6),
    // Each server has a connection of its own, over which it is asked several times.
    database_kind('mysql', new PrivateMariaDb(), 12),
]);
echo "done\n";
?>
--EXPECT--
done
