--TEST--
A full Redis server is reported to new connections, waiters and renewal; all recover by themselves when maxclients is raised
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$servers = array_map(fn () => redis_private(), range(0, 2));
$raws = array_map(fn ($server) => $server->raw(), $servers);
$limit = fn (int $clients) => array_map(fn (RedisRaw $redis) => $redis->cmd('CONFIG', 'SET', 'maxclients', $clients), $raws);
$full = fn (PrivateRedis $server) => "Redis at {$server->address()}: ERR max number of clients reached; see maxclients in its configuration";

// ---- new connections, with a login and without ----
foreach (['', '/3'] as $i => $database) {
    $limit(1 + $i);
    $locks = new DistributedLock($servers[0]->dsn() . $database);
    foreach (['lock', 'tryAcquire', 'isLocked', 'acquire'] as $call) {
        fails('Dlock\ConnectionException', $full($servers[0]), fn () => $locks->$call(unique()), "$call()$database");
    }
    $limit(2 + $i);
    same(true, $locks->lock(unique($database), 0), "lock()$database when there is room");
    same(true, $locks->release(unique($database)), "release()$database");
}

// ---- RedLock asks servers for their age before the lock ----
$limit(1);
$red = new RedLock(array_map(fn ($server) => $server->dsn() . '/4', $servers));
for ($i = 0; $i < 20; $i++) {
    same(false, $red->lock(unique('red')), 'RedLock::lock()');
    $e = thrown_by(fn () => $red->acquire(unique('red'), 0));
    same('Dlock\QuorumException', $e::class, 'thrown');
    $reasons = $e->getServerErrors();
    holds(count($reasons) >= 2, 'a majority has been heard of', $reasons);
    same(['ERR max number of clients reached; see maxclients in its configuration'], array_values(array_unique($reasons)), 'reasons');
}
$limit(100);
same(true, is_array($red->lock(unique('red'))), 'RedLock::lock() when there is room');

// ---- a connected client continues, except for the connections that waiting and renewal need ----
$locks = new DistributedLock($servers[0]->dsn() . '/5', ttl: 1.5);
$redis = $servers[0]->raw();
$redis->cmd('SELECT', 5);
same(false, $locks->isLocked(unique('held')), 'isLocked()');
$limit(1);
$redis->cmd('SET', 'Lock:' . unique('taken'), 'somebody-else');
fails('Dlock\AcquireTimeoutException', '*', fn () => $locks->acquire(unique('taken'), 0), 'without a wait');
fails('Dlock\ConnectionException', $full($servers[0]), fn () => $locks->acquire(unique('taken'), 60), 'waiting');
$lease = wait_for(fn () => $locks->tryAcquire(unique('held')), 60, 'a lease');
wait_for(fn () => !$lease->isHeld(), 60, 'the lease to be over');
fails('Dlock\LeaseLostException', '*', $lease->assertHeld(...), 'a lease that could not be renewed');

$limit(100);
// The server keeps the key a little longer than its holder believes.
$lease = (new DistributedLock($servers[0]->dsn() . '/5', ttl: 6))->acquire(unique('held'), 60);
$renewals = Dlock\stats()['renewals'];
wait_for(fn () => Dlock\stats()['renewals'] > $renewals, 60, 'a renewal');
same(true, $lease->isHeld(), 'held, when there is room');
$redis->cmd('PEXPIRE', 'Lock:' . unique('taken'), 1);
same(true, $locks->lock(unique('taken'), 60), 'waiting, when there is room');
echo "done\n";
?>
--EXPECT--
done
