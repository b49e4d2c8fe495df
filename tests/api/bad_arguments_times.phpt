--TEST--
A bad time is refused with a ValueError that names the argument and what it may be
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_server();
$servers = redis_servers(3);
$lock = new DistributedLock($server);
$red = new RedLock($servers);
$lease = $lock->acquire(unique('lease'));
$held = unique('held');
$lock->lock($held);
$section = fn () => print "the section ran\n";

// method, argument number and name, call with a value
$ttls = [
    ['DistributedLock::__construct()', 3, 'ttl', fn ($x) => new DistributedLock($server, ttl: $x)],
    ['DistributedLock::lock()', 3, 'expire', fn ($x) => $lock->lock('x', 0, $x)],
    ['DistributedLock::expire()', 2, 'expire', fn ($x) => $lock->expire($held, $x)],
    ['DistributedLock::expire()', 2, 'expire', fn ($x) => $lock->expire('not held', $x)],
    ['DistributedLock::acquire()', 3, 'ttl', fn ($x) => $lock->acquire('x', ttl: $x)],
    ['DistributedLock::tryAcquire()', 3, 'ttl', fn ($x) => $lock->tryAcquire('x', ttl: $x)],
    ['DistributedLock::synchronized()', 4, 'ttl', fn ($x) => $lock->synchronized('x', $section, ttl: $x)],
    ['RedLock::__construct()', 5, 'ttl', fn ($x) => new RedLock($servers, ttl: $x)],
    ['RedLock::acquire()', 3, 'ttl', fn ($x) => $red->acquire('x', ttl: $x)],
    ['RedLock::tryAcquire()', 3, 'ttl', fn ($x) => $red->tryAcquire('x', ttl: $x)],
    ['RedLock::synchronized()', 4, 'ttl', fn ($x) => $red->synchronized('x', $section, ttl: $x)],
    ['Dlock\Lease::refresh()', 1, 'ttl', fn ($x) => $lease->refresh($x)],
];
foreach ($ttls as [$method, $number, $name, $call]) {
    foreach ([0, 0.0, -0.0, -1, -0.001, 0.0029, 1e-300, 31536001, 1e300, INF, -INF, NAN, PHP_INT_MAX, PHP_INT_MIN] as $bad) {
        fails(ValueError::class, "$method: Argument #$number (\$$name) must be between 0.003 and 31536000 seconds", fn () => $call($bad), "$method with " . shown($bad));
    }
}

$timeouts = [
    ['DistributedLock::__construct()', 4, fn ($x) => new DistributedLock($server, timeout: $x)],
    ['DistributedLock::lock()', 2, fn ($x) => $lock->lock('x', $x)],
    ['DistributedLock::acquire()', 2, fn ($x) => $lock->acquire('x', $x)],
    ['DistributedLock::tryAcquire()', 2, fn ($x) => $lock->tryAcquire('x', $x)],
    ['DistributedLock::synchronized()', 3, fn ($x) => $lock->synchronized('x', $section, $x)],
    ['RedLock::__construct()', 6, fn ($x) => new RedLock($servers, timeout: $x)],
    ['RedLock::acquire()', 2, fn ($x) => $red->acquire('x', $x)],
    ['RedLock::tryAcquire()', 2, fn ($x) => $red->tryAcquire('x', $x)],
    ['RedLock::synchronized()', 3, fn ($x) => $red->synchronized('x', $section, $x)],
];
foreach ($timeouts as [$method, $number, $call]) {
    foreach ([-1, -0.001, -1e-300, 31536001, 1e300, INF, -INF, NAN, PHP_INT_MIN] as $bad) {
        fails(ValueError::class, "$method: Argument #$number (\$timeout) must be between 0 and 31536000 seconds", fn () => $call($bad), "$method with " . shown($bad));
    }
}

// RedLock counts in milliseconds.
foreach ([0, -1, PHP_INT_MIN, PHP_INT_MAX, 31_536_000_001] as $bad) {
    fails(ValueError::class, 'RedLock::lock(): Argument #2 ($ttl) must be between 1 and 31536000000 milliseconds', fn () => $red->lock('x', $bad), "RedLock::lock() with $bad");
}
foreach ([0, -1, 60_001, PHP_INT_MAX, PHP_INT_MIN] as $bad) {
    fails(ValueError::class, 'RedLock::__construct(): Argument #2 ($retryDelay) must be between 1 and 60000 milliseconds', fn () => new RedLock($servers, $bad));
}
foreach ([0, -1, 1_000_001, PHP_INT_MAX, PHP_INT_MIN] as $bad) {
    fails(ValueError::class, 'RedLock::__construct(): Argument #3 ($retryCount) must be between 1 and 1000000 attempts', fn () => new RedLock($servers, retryCount: $bad));
}

// None of these calls changed anything, and values at the bounds are accepted.
same(true, $lock->isLocking($held), 'the lock that was held');
same(true, $lease->isHeld(), 'the lease');
foreach ([0.003, 1, 31536000, 31536000.0] as $good) {
    same(null, thrown_by(fn () => new DistributedLock($server, ttl: (float) $good, timeout: (float) $good)), 'ttl and timeout ' . shown($good));
    same(true, $lock->expire($held, 31536000), 'expire()');
}
same(true, $lock->expire($held, 100), 'expire()');
same(null, thrown_by(fn () => new DistributedLock($server, timeout: -0.0)), 'timeout -0.0');
same(null, thrown_by(fn () => new RedLock($servers, 60_000, 1_000_000)), 'the largest of RedLock');
same(null, thrown_by(fn () => new RedLock($servers, 1, 1)), 'the smallest of RedLock');
same(true, is_array($year = $red->lock($held, 31_536_000_000)) && $red->unlock($year), 'a year in ms');
echo "done\n";
?>
--EXPECT--
done
