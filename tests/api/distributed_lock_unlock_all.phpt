--TEST--
DistributedLock: unlockAll() releases what this object acquired with lock(), and tells whether all of it was still held
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$lock = new DistributedLock(redis_server());
$keys = array_map(unique(...), ['a', 'b', 'c', 'd']);
$exist = fn () => $redis->cmd('EXISTS', ...array_map(fn ($key) => "Lock:$key", $keys));
$lock_all = function () use ($lock, $keys) {
    foreach ($keys as $key) {
        same(true, $lock->lock($key, 0), "lock($key)");
    }
};

same(true, $lock->unlockAll(), 'unlockAll() of nothing');

$lock_all();
same(4, $exist(), 'keys');
same(true, $lock->unlockAll(), 'unlockAll()');
same(0, $exist(), 'keys after unlockAll()');
same(true, $lock->unlockAll(), 'a second unlockAll()');
same(false, $lock->release($keys[0]), 'release() after unlockAll()');

// One lock was lost, one was released before.
$lock_all();
$redis->cmd('DEL', "Lock:$keys[1]");
$lock->release($keys[2]);
same(false, $lock->unlockAll(), 'unlockAll() with one lost');
same(0, $exist(), 'keys after that');
same(true, $lock->unlockAll(), 'unlockAll(), now that it is known');

// unlockAll() releases neither locks of other objects nor those of leases.
$other = new DistributedLock(redis_server());
$other->lock($keys[0]);
$lease = $lock->acquire($keys[1]);
$lock->lock($keys[2]);
same(false, $lock->unlockAll(), 'unlockAll() beside a lease of this object');
same(2, $exist(), 'keys of the others');
same(true, $other->isLocking($keys[0]), 'the other object\'s lock');
same(true, $lease->isHeld() && $lease->release(), 'the lease');
echo "done\n";
?>
--EXPECT--
done
