--TEST--
DistributedLock: expire() sets a new lease time, shorter or longer, of a lock that is still held
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$lock = new DistributedLock(redis_server());
$key = unique();
$pttl = fn () => $redis->cmd('PTTL', "Lock:$key");

same(false, $lock->expire($key, 100), 'expire() of what was never locked');
same(true, $lock->lock($key, 0, 100), 'lock()');
same(true, $lock->expire($key, 1000), 'a longer lease');
within(500_000, $pttl(), 1_000_000, 'the longer lease in ms');
same(true, $lock->expire($key, 50), 'a shorter lease');
within(20_000, $pttl(), 50_000, 'the shorter lease in ms');
same(true, $lock->expire($key, 60.25), 'a lease as float');
within(50_001, $pttl(), 60_250, 'that in ms');
same(true, $lock->isLocking($key), 'isLocking()');

// Another object cannot change it.
same(false, (new DistributedLock(redis_server()))->expire($key, 1), 'expire() of another object');
within(20_000, $pttl(), 60_250, 'the lease after that');

same(true, $lock->release($key), 'release()');
same(false, $lock->expire($key, 100), 'expire() after release()');
same(0, $redis->cmd('EXISTS', "Lock:$key"), 'keys after that');

// A lease that has expired does not return: another object can acquire the lock.
same(true, $lock->lock($key, 0, 100), 'lock() again');
same(true, $lock->expire($key, 2), 'a short lease');
wait_until_gone($redis, "Lock:$key");
same(false, $lock->expire($key, 100), 'expire() after the expiry');
same(false, $lock->isLocking($key), 'isLocking() after the expiry');
same(true, (new DistributedLock(redis_server()))->lock($key, 0), 'lock() of another object');
same(false, $lock->release($key), 'release() after the expiry');
echo "done\n";
?>
--EXPECT--
done
