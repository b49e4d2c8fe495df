--TEST--
On a server without memory, a release releases the lock, and hands it over
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

foreach (['DistributedLock' => 1, 'RedLock' => 3] as $kind => $servers) {
    $locks = private_locks($kind, $servers);
    $limit = fn (int $bytes) => array_map(fn (RedisRaw $redis) => $redis->cmd('CONFIG', 'SET', 'maxmemory', $bytes), $locks->raw());
    $resource = unique($kind);
    $lease = $locks->manager()->acquire($resource, 0, 1000);
    $waiter = $locks->waiter($resource);
    $locks->waitUntilQueued($resource, 1);
    $limit(1);
    same(null, thrown_by(fn () => same(true, $lease->release(), "$kind: release()")), "$kind: thrown by release()");
    $values = array_map(fn (RedisRaw $redis) => $redis->cmd('GET', Locks::key($resource)), $locks->raw());
    same(false, in_array($lease->token, $values, true), "$kind: still locked for who released it");
    if ($kind === 'DistributedLock') { // with a majority the waiter has to ask
        same(true, $waiter->hear()[2], 'handed over');
    }
    $limit(0);
    $waiter->kill();
}
echo "done\n";
?>
--EXPECT--
done
