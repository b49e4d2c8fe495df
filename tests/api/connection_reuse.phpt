--TEST--
Connections are kept: the second acquisition sends two commands, and no connect, AUTH, SELECT or SCRIPT LOAD
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private(['user app on >secret ~* &* +@all']);
$redis = $server->raw();
$dsn = "redis://app:secret@{$server->address()}/3";

// The first acquisition sends AUTH and SELECT once, and each script's text once.
$lock = new DistributedLock($dsn);
same([], client_ids($redis), 'connections of a constructor');
$counts = sent_commands($redis, function () use ($lock) {
    same(true, $lock->lock('x'), 'the first lock()');
    same(true, $lock->release('x'), 'the first release()');
});
same(['auth' => 1, 'eval' => 2, 'evalsha' => 2, 'select' => 1], $counts, 'the first');
$clients = client_ids($redis);
same(1, count($clients), 'connections');

// RedLock's first release over a connection sends the script's text, because the server may answer when no caller
// listens any more.
$red = new RedLock([$dsn]);
same(['eval' => 1, 'evalsha' => 1], sent_commands($redis, fn () => $red->unlock($red->lock('x'))), 'the first of RedLock');

// From then on each call sends two commands.
foreach (['lock() and release()' => fn () => $lock->lock('x') && $lock->release('x'), 'acquire() and release()' => fn () => $lock->acquire('x')->release(),
    'synchronized()' => fn () => $lock->synchronized('x', fn () => 1), 'another resource' => fn () => $lock->acquire('y')->release(),
    'another object' => fn () => (new DistributedLock($dsn))->acquire('x')->release(), 'another prefix' => fn () => (new DistributedLock($dsn, 'p:'))->acquire('x')->release(),
    'RedLock with one server' => function () use ($dsn) {
        $red = new RedLock([$dsn]);
        $red->unlock($red->lock('x'));
    }] as $what => $do) {
    same(['evalsha' => 2], sent_commands($redis, $do), $what);
    same($clients, client_ids($redis), "connections, $what");
}
$counts = sent_commands($redis, function () use ($lock) {
    for ($i = 0; $i < 100; $i++) {
        $lock->acquire("x$i")->release();
    }
});
same(['evalsha' => 200], $counts, 'a hundred times');
same($clients, client_ids($redis), 'connections after a hundred times');

// Each user, database and timeout has a connection of its own.
foreach (["redis://app:secret@{$server->address()}/4", "redis://{$server->address()}/3", "$dsn?read_timeout=5"] as $i => $other) {
    (new DistributedLock($other))->acquire('x')->release();
    same($i + 2, count(client_ids($redis)), "connections with $other");
    (new DistributedLock($other))->acquire('x')->release();
    same($i + 2, count(client_ids($redis)), "connections with $other again");
}

// The form makes no difference: a DSN and an array for the same server share one connection.
$before = connections_received($redis);
(new DistributedLock(['host' => '127.0.0.1', 'port' => $server->port, 'auth' => ['app', 'secret'], 'database' => 3]))->acquire('x')->release();
same($before, connections_received($redis), 'connections with an array for the same');

// The database is right, too.
$redis->cmd('SELECT', 3);
$lease = $lock->acquire('where');
same(1, $redis->cmd('EXISTS', 'Lock:where'), 'the key in database 3');
echo "done\n";
?>
--EXPECT--
done
