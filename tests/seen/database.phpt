--TEST--
The command dlock on databases: show, watch, wait, run, break; ls and metrics, which find a few locks among many
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
require __DIR__ . '/../inc/seen.inc';
require __DIR__ . '/../inc/openmetrics.inc';

/** Adds locks to the database, held or free, that no client has acquired. */
function add_locks(PrivateDatabase $server, string $name, int $count, bool $held): void
{
    if ($server instanceof PrivatePostgres) {
        $server->query("INSERT INTO dlock.locks SELECT convert_to('$name' || i, 'UTF8'), 1, '', now() + interval '" . ($held ? 1 : -1) . " hour', 0, ''
            FROM generate_series(1, $count) i");
        return;
    }
    $server->query("INSERT INTO dlock_fences SELECT CONCAT('$name', seq), 1 FROM seq_1_to_$count");
    $server->query("INSERT INTO dlock_locks SELECT CONCAT('$name', seq), '', (UNIX_TIMESTAMP() + " . ($held ? 3600 : -3600) . ") * 1000000, 0, 9, 0, ''
        FROM seq_1_to_$count");
}

foreach (private_databases() as $kind => $server) {
    $options = 'guard=300&connect_timeout=60&read_timeout=60';
    (new DistributedLock($server->dsn("create=1&$options")))->isLocked('r'); // creates the tables
    $dsn = $server->dsn($options, $server->applicationUser());
    $dlock = fn (string ...$arguments) => dlock(["--server=$dsn", ...$arguments]);
    $make = fn () => new DistributedLock($dsn, ttl: 100);
    $locks = $make();
    same(1, $dlock('show', 'r')->status, "$kind: show of a free lock");
    $claimants = $pids = [];
    foreach (['order 17', 'GET /cart', 'ü'] as $i => $label) {
        $claimants[] = $claimant = claimant($make, 'r', $label);
        $pids[] = $claimant->hear();
        wait_for_parties($locks, 'r', 1, $i);
    }
    $token = $claimants[0]->hear();

    $run = wait_for(function () use ($dlock) {
        $run = $dlock('show', 'r', '--json');
        return $run->status !== 0 || json_decode($run->output)->waiting === 2 ? $run : null; // not before a slow waiter's sign of life
    }, 60, "$kind: show");
    $shown = json_decode($run->output, true);
    same([0, '', array_slice($pids, 1), 2], [$run->status, $run->errors, array_column($shown['waiters'], 'pid'), $shown['waiting']], "$kind: show");
    $id = substr($token, 0, 24);
    same([$id, $pids[0], $server->grant('Lock:r')['fence']], [$shown['holders'][0]['id'], $shown['holders'][0]['pid'], $shown['holders'][0]['fencingToken']], "$kind: the holder");
    $text = $dlock('show', 'r')->output . $dlock('watch', 'r', '--count=1')->output;
    foreach (['GET /cart', 'ü', "pid $pids[0]"] as $word) {
        holds(str_contains($text, $word), "$kind: shown: $word", $text);
    }
    hides([PrivateDatabase::PASSWORD, $token], $text . $run->output, "$kind: what is shown");
    same(1, $dlock('wait', 'r', '--timeout=0')->status, "$kind: wait, not free");

    // The command lists them among a thousand free locks, with the prefix only, the longest held first; it blocks no
    // client.
    $long = str_repeat('long', 100);
    $others = [$make()->acquire($long), $make()->acquire('relied'), (new DistributedLock($dsn, 'Loc', ttl: 100))->acquire('foreign')];
    add_locks($server, 'Lock:f', 1100, false);
    $pdo = $server->pdo();
    $pdo->beginTransaction();
    $pdo->query('SELECT * FROM ' . ($kind === 'pgsql' ? 'dlock.locks' : 'dlock_locks') . " WHERE name = 'Lock:relied' FOR UPDATE")->fetchAll();
    $run = wait_for(function () use ($dlock) {
        $run = $dlock('ls', '--json');
        return $run->status !== 0 || json_decode($run->output)[0]->waiting === 2 ? $run : null; // not before a slow waiter's sign of life
    }, 60, "$kind: ls");
    $listed = json_decode($run->output, true);
    same([0, '', ['r', substr($long, 0, ($kind === 'pgsql' ? 223 : 191) - 5) . '...', 'relied']], [$run->status, $run->errors, array_column($listed, 'resource')], "$kind: ls");
    foreach ([&$shown, &$listed[0]] as &$lock) {
        unset($lock['at']);
        $lock['holders'] = array_column($lock['holders'], 'fencingToken', 'id'); // a renewal adds details
        $lock['waiters'] = array_slice($lock['waiters'], 0, 1);
    }
    same($shown, $listed[0], "$kind: ls has what show has");
    holds(preg_match("/^r +\\S+ pid $pids[0] /m", $dlock('ls', '--all')->output) === 1, "$kind: ls as text");
    same(['eign'], array_column(json_decode(dlock(["--server=$dsn", '--prefix=Locfor', 'ls', '--json'])->output, true), 'resource'), "$kind: ls with another prefix");
    $queue = fn ($samples) => [$samples['dlock_server_waiting'], $samples['dlock_server_queue_length{resource="r"}'] ?? 0.0];
    wait_for(fn () => $queue(open_metrics($dlock('metrics')->output)) === [2.0, 2.0], 60, "$kind: metrics");
    hides([PrivateDatabase::PASSWORD, $token], $run->output, "$kind: what is listed");
    $pdo->rollBack();
    add_locks($server, 'Lock:g', 1100, true);
    $run = $dlock('ls', '--json');
    same([0, 1000, "dlock: it lists no more than 1000 locks, and there may be more\n"], [$run->status, count(json_decode($run->output)), $run->errors], "$kind: no more than a thousand");
    array_map(fn ($lease) => $lease->release(), $others);

    // The lock is broken: its holder can neither renew nor release it. Then it is free at once, for the next holder.
    same([3, $token], [$dlock('break', 'r', '--id=' . strrev($id))->status, $server->token('Lock:r')], "$kind: break of another holder");
    $run = $dlock('break', 'r', "--id=$id");
    same([0, true], [$run->status, str_contains($run->output, 'it is free in ')], "$kind: break");
    holds(str_contains($dlock('show', 'r')->output, 'broken by '), "$kind: show of a lock that was broken");
    $claimants[0]->say('go');
    $claimants[0]->result();
    same(true, $locks->isLocked('r'), "$kind: after its holder's release()");
    $run = $dlock('break', 'r', "--id=$id", '--now', '--yes');
    same([0, "broken and given on\n"], [$run->status, $run->output], "$kind: break --now");
    foreach ([1, 2] as $i) {
        holds($claimants[$i]->hear() !== $token, "$kind: the next holder");
        $claimants[$i]->say('go');
        $claimants[$i]->result();
    }

    $run = $dlock('run', 'r', '--', 'sh', '-c', 'echo out; exit 7');
    same([7, "out\n"], [$run->status, $run->output], "$kind: run");
    same(0, $dlock('wait', 'r')->status, "$kind: wait");
    $run = dlock(['--server=' . str_replace((string) $server->port, (string) closed_port(), $dsn), 'show', 'r']);
    same(4, $run->status, "$kind: not reached");
    hides([PrivateDatabase::PASSWORD, rawurlencode(PrivateDatabase::PASSWORD)], $run->output . $run->errors, "$kind: not reached");
}
echo "done\n";
?>
--EXPECT--
done
