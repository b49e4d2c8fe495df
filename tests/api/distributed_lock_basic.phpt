--TEST--
DistributedLock: lock() sets the key to an unguessable token with a time to live, release() deletes it
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

same(0, $redis->cmd('EXISTS', "Lock:$key"), 'keys before');
same(true, $lock->lock($key), 'lock()');
same('string', $redis->cmd('TYPE', "Lock:$key"), 'the type of the key');
$token = $redis->cmd('GET', "Lock:$key");
holds((bool) preg_match('/^[0-9a-f]{32,}$/', $token), 'a token of 128 bits or more', $token);
within(1, $redis->cmd('PTTL', "Lock:$key"), 10000, 'the default ttl of 10 s, in ms');
same(true, $lock->isLocking($key), 'isLocking()');

same(true, $lock->release($key), 'release()');
same(0, $redis->cmd('EXISTS', "Lock:$key"), 'keys after release()');
same(false, $lock->release($key), 'a second release()');
same(false, $lock->isLocking($key), 'isLocking() after release()');

// Each acquisition has a token of its own.
$tokens = [];
for ($i = 0; $i < 50; $i++) {
    same(true, $lock->lock($key, 0), "lock() number $i");
    $tokens[] = $redis->cmd('GET', "Lock:$key");
    same(true, $lock->unlock($key), "unlock() number $i");
}
same(50, count(array_unique($tokens)), 'different tokens');

// Another object is another owner, also in the same process.
$other = new DistributedLock(redis_server());
same(true, $lock->lock($key), 'lock() again');
same(false, $other->lock($key, 0), 'lock() of another object');
same(false, $other->isLocking($key), 'isLocking() of another object');
same(false, $other->release($key), 'release() of another object');
same(false, $lock->lock($key, 0), 'lock() of what this object holds');
same(true, $lock->isLocking($key), 'isLocking() after all that');
same(true, $lock->release($key), 'release() at last');
same(true, $other->lock($key, 0), 'lock() of the other object once it is free');

// The prefix is put before the key unchanged.
foreach (['', 'shop:', 'Lock', "a\0b"] as $prefix) {
    $prefixed = new DistributedLock(redis_server(), $prefix);
    $prefixed->lock("$key-p");
    same(1, $redis->cmd('EXISTS', "$prefix$key-p"), "the key with the prefix '$prefix'");
    $prefixed->release("$key-p");
}
echo "done\n";
?>
--EXPECT--
done
