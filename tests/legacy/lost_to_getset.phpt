--TEST--
legacy: true: a late GETSET of an old process harms only the new holder's lease, which reports the loss
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/legacy.inc';

const OLD = 60; // seconds, the old code's expiry
$redis = redis_raw();
$legacy = new DistributedLock(redis_server(), ttl: 30, legacy: true);
$second = new DistributedLock(redis_server(), ttl: 30, legacy: true);

/** An old process has read an ended timestamp; the new one acquires the lock; then comes the old one's GETSET. */
$race = function (string $name) use ($redis, $legacy) {
    $key = 'Lock:' . unique($name);
    $redis->cmd('SET', $key, time() - 10);
    same(true, $redis->cmd('GET', $key) < time(), "$name: what the old process reads has ended");
    $lease = $legacy->acquire(unique($name), 0);
    $end = time() + OLD;
    $before = $redis->cmd('GETSET', $key, $end);
    same($lease->token, $before, "$name: what its GETSET gives");
    same(false, $before < time(), "$name: the old process has the lock");
    same([(string) $end, -1], [$redis->cmd('GET', $key), $redis->cmd('PTTL', $key)], "$name: what is there now");
    // No other process holds the lock, so the new holder may continue until it asks.
    holds($lease->isHeld(), "$name: isHeld()");
    holds(wall_clock() + $lease->remaining() < $end, "$name: the lease ends before the timestamp that replaced it");
    return [$lease, $key, (string) $end];
};

// Each call that asks finds out, and none puts the token back.
$asked = [
    'refresh' => fn (Dlock\Lease $lease) => fails(Dlock\LeaseLostException::class, '*was lost*', fn () => $lease->refresh(), 'refresh()'),
    'release' => fn (Dlock\Lease $lease) => same(false, $lease->release(), 'release()'),
    'detach' => fn (Dlock\Lease $lease) => fails(Dlock\LeaseLostException::class, '*', fn () => $legacy->attach($lease->detach()), 'attach()'),
];
foreach ($asked as $name => $ask) {
    [$lease, $key, $end] = $race($name);
    $ask($lease);
    same(false, $lease->isHeld(), "$name: isHeld() then");
    unset($lease);
    same([$end, -1], [$redis->cmd('GET', $key), $redis->cmd('PTTL', $key)], "$name: what is there in the end");
    // No process can acquire the lock before the new timestamp has ended, and then any can.
    same(null, $second->tryAcquire(unique($name)), "$name: another one, at once");
    $redis->cmd('SET', $key, time() - 1);
    same(true, $second->tryAcquire(unique($name))?->release(), "$name: another one, when the timestamp has ended");
}
[$lease] = $race('synchronized');
fails(Dlock\LeaseLostException::class, '*was lost before its critical section ended', function () use ($redis, $legacy) {
    $legacy->synchronized(unique('section'), fn () => $redis->cmd('GETSET', 'Lock:' . unique('section'), time() + OLD), 0);
});
$redis->cmd('DEL', 'Lock:' . unique('section'));

// lock(), isLocking() and release().
$resource = unique('lock');
same(true, $legacy->lock($resource, 0) && $legacy->isLocking($resource), 'lock()');
$redis->cmd('GETSET', "Lock:$resource", $end = time() + OLD);
same([false, false], [$legacy->isLocking($resource), $legacy->release($resource)], 'isLocking(), release()');
same((string) $end, $redis->cmd('GET', "Lock:$resource"), 'the timestamp stays');

// A recovery's EXPIRE that finds no TTL, and comes late, only changes how long the lease's key stays.
$lease = $legacy->acquire(unique('expire'), 0);
same(1, $redis->cmd('EXPIRE', 'Lock:' . unique('expire'), OLD), 'EXPIRE');
holds($lease->isHeld() && $lease->remaining() <= 30, 'the lease', $lease->remaining());
$lease->refresh();
within(1000, $redis->cmd('PTTL', 'Lock:' . unique('expire')), 30_000, 'PTTL after refresh()');
same(true, $lease->release(), 'release() after EXPIRE');
foreach (['detach', 'refresh', 'release', 'synchronized', 'lock'] as $name) {
    $redis->cmd('DEL', 'Lock:' . unique($name));
}
echo "done\n";
?>
--EXPECT--
done
