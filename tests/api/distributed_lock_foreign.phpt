--TEST--
DistributedLock does not delete, prolong or acquire a key that holds another client's value
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
$foreign = function () use ($redis, $key) {
    same('theirs', $redis->cmd('GET', "Lock:$key"), 'the value');
    within(100_000, $redis->cmd('PTTL', "Lock:$key"), 200_000, 'its time to live');
};

// A client of another kind holds the lock.
$redis->cmd('SET', "Lock:$key", 'theirs', 'PX', 200_000);
same(false, $lock->lock($key, 0), 'lock()');
same(null, $lock->tryAcquire($key), 'tryAcquire()');
same(true, $lock->isLocked($key), 'isLocked()');
same(false, $lock->isLocking($key), 'isLocking()');
same(false, $lock->release($key), 'release()');
$foreign();

// That client acquires the lock after this one has lost it. Each call finds out, and does no harm.
foreach (['release', 'unlock', 'isLocking', 'expire'] as $call) {
    $redis->cmd('DEL', "Lock:$key");
    same(true, $lock->lock($key, 0), "lock() before $call()");
    $redis->cmd('SET', "Lock:$key", 'theirs', 'PX', 200_000);
    same(false, $call === 'expire' ? $lock->expire($key, 500) : $lock->$call($key), "$call() of what was lost");
    $foreign();
    same(false, $lock->isLocking($key), "isLocking() after $call()");
    same(false, $lock->release($key), "release() after $call()");
    $foreign();
}

$redis->cmd('DEL', "Lock:$key");
$lock->lock($key, 0);
$redis->cmd('SET', "Lock:$key", 'theirs', 'PX', 200_000);
same(false, $lock->unlockAll(), 'unlockAll() of what was lost');
$foreign();

$redis->cmd('DEL', "Lock:$key");
$lease = $lock->acquire($key);
$redis->cmd('SET', "Lock:$key", 'theirs', 'PX', 200_000);
same(true, $lease->isHeld(), 'isHeld(), which asks nobody');
same(false, $lease->release(), 'Lease::release() of what was lost');
same(Dlock\LeaseState::Lost, $lease->state(), 'the state after that');
unset($lease);
$foreign();

// If a lease goes out of scope after its lock was lost, the foreign lock stays as well.
$redis->cmd('DEL', "Lock:$key");
$lease = $lock->acquire($key);
$redis->cmd('SET', "Lock:$key", 'theirs', 'PX', 200_000);
unset($lease);
same(true, $lock->isLocked($key), 'isLocked(), which is asked behind the release');
$foreign();

// A key without time to live is a held lock, too.
$redis->cmd('SET', "Lock:$key", (string) time());
same(false, $lock->lock($key, 0.05), 'lock() of a key without time to live');
same(-1, $redis->cmd('PTTL', "Lock:$key"), 'its time to live');
$redis->cmd('DEL', "Lock:$key");
echo "done\n";
?>
--EXPECT--
done
