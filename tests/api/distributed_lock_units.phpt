--TEST--
DistributedLock: times are seconds, as int or float, from the call, the constructor or the INI setting
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.ttl=300
dlock.timeout=0.05
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$pttl = fn (string $key) => $redis->cmd('PTTL', "Lock:$key");

/** The lease time in ms that the server has after lock($key, 0, $expire). */
$lease = function (DistributedLock $lock, int|float|null ...$expire) use ($pttl) {
    $key = unique('units');
    same(true, $lock->lock($key, 0, ...$expire), 'lock()');
    $ms = $pttl($key);
    same(true, $lock->release($key), 'release()');
    return $ms;
};

$lock = new DistributedLock(redis_server());
within(250_000, $lease($lock), 300_000, 'INI dlock.ttl');
within(250_000, $lease($lock, null), 300_000, 'INI dlock.ttl, with $expire null');
within(50_000, $lease($lock, 60), 60_000, 'an int of seconds');
within(50_000, $lease($lock, 59.5), 59_500, 'a float of seconds');
within(31_535_900_000, $lease($lock, 31536000), 31_536_000_000, 'a year');

$lock = new DistributedLock(redis_server(), ttl: 100.5);
within(80_000, $lease($lock), 100_500, 'the constructor\'s $ttl');
within(50_000, $lease($lock, 60), 60_000, 'an explicit lease, before the constructor\'s');

// acquire(), tryAcquire() and synchronized() have the same defaults.
$key = unique('lease');
$lease = $lock->acquire($key);
within(80_000, $pttl($key), 100_500, 'acquire()');
$lease->release();
$lease = $lock->acquire($key, ttl: 60);
within(50_000, $pttl($key), 60_000, 'acquire() with a ttl');
$lease->release();
$lease = $lock->tryAcquire($key, ttl: 60.5);
within(50_000, $pttl($key), 60_500, 'tryAcquire() with a ttl');
$lease->release();
within(50_000, $lock->synchronized($key, fn () => $pttl($key), ttl: 60), 60_000, 'synchronized() with a ttl');

// A wait ends after the timeout of the INI setting, the constructor or the call, not before.
$holder = new DistributedLock(redis_server());
$holder->lock($key, expire: 100);
within(0.05, seconds(fn () => fails(Dlock\AcquireTimeoutException::class, '*', fn () => $lock->acquire($key))), SOON, 'INI dlock.timeout');
$lock = new DistributedLock(redis_server(), timeout: 0.2);
within(0.2, seconds(fn () => fails(Dlock\AcquireTimeoutException::class, '*', fn () => $lock->acquire($key))), SOON, 'the constructor\'s $timeout');
within(0.1, seconds(fn () => fails(Dlock\AcquireTimeoutException::class, '*', fn () => $lock->acquire($key, 0.1))), SOON, 'the call\'s $timeout');
within(0.1, seconds(fn () => same(false, $lock->lock($key, 0.1), 'lock()')), SOON, 'lock() with a timeout');
within(1, seconds(fn () => same(false, $lock->lock($key, 1), 'lock()')), SOON, 'lock() with an int as timeout');

// lock() without a timeout has no limit, neither that of the INI setting nor that of the constructor.
$holder->expire($key, 1);
same(true, $lock->lock($key), 'lock() without a timeout');
echo "done\n";
?>
--EXPECT--
done
