--TEST--
A bad option is refused with a ValueError that says what it may be
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$single = fn (...$options) => new DistributedLock(redis_server(), ...$options);
$quorum = fn (...$options) => new RedLock(redis_servers(3), ...$options);

foreach (['', 'Flag', 'THROW', 'ignore', "flag\0"] as $bad) {
    fails(ValueError::class, 'DistributedLock::__construct(): Argument #6 ($onLoss) must be either "flag" or "throw"', fn () => $single(onLoss: $bad), shown($bad));
    fails(ValueError::class, 'RedLock::__construct(): Argument #8 ($onLoss) must be either "flag" or "throw"', fn () => $quorum(onLoss: $bad), shown($bad));
}
fails(TypeError::class, 'DistributedLock::__construct(): Argument #5 ($renew) must be of type ?bool, string given', fn () => $single(renew: 'yes'));
fails(TypeError::class, 'DistributedLock::__construct(): Argument #6 ($onLoss) must be of type string, null given', fn () => $single(onLoss: null));
fails(TypeError::class, 'DistributedLock::__construct(): Argument #7 ($releaseOnShutdown) must be of type ?bool, int given', fn () => $single(releaseOnShutdown: 1));
fails(TypeError::class, 'DistributedLock::__construct(): Argument #2 ($prefix) must be of type string, null given', fn () => $single(null));
fails(TypeError::class, 'DistributedLock::__construct(): Argument #8 ($legacy) must be of type bool, null given', fn () => $single(legacy: null));
fails(Error::class, 'Unknown named parameter $retryDelay', fn () => $single(retryDelay: 1));
fails(Error::class, 'Unknown named parameter $legacy', fn () => $quorum(legacy: true));

// All values that are accepted.
same(null, thrown_by(fn () => $single(legacy: true)), 'legacy: true');
foreach ([true, false, null] as $release) {
    foreach ([true, false, null] as $renew) {
        same(null, thrown_by(fn () => $single(prefix: 'p:', ttl: 5, timeout: 1, renew: $renew, onLoss: $renew ? 'throw' : 'flag', releaseOnShutdown: $release, legacy: false)), 'DistributedLock');
        same(null, thrown_by(fn () => $quorum(retryDelay: 5, retryCount: 5, prefix: 'p:', ttl: 5, timeout: 1, renew: $renew, onLoss: 'flag', releaseOnShutdown: $release)), 'RedLock');
    }
}

// Options of the methods.
$lock = $single();
fails(TypeError::class, 'DistributedLock::synchronized(): Argument #2 ($criticalSection) must be a valid callback, function "no_such_function" not found or invalid function name', fn () => $lock->synchronized('x', 'no_such_function'));
fails(TypeError::class, 'DistributedLock::synchronized(): Argument #2 ($criticalSection) must be a valid callback, no array or string given', fn () => $lock->synchronized('x', null));
fails(ArgumentCountError::class, 'DistributedLock::synchronized() expects at least 2 arguments, 1 given', fn () => $lock->synchronized('x'));
fails(ArgumentCountError::class, 'DistributedLock::lock() expects at least 1 argument, 0 given', fn () => $lock->lock());
fails(ArgumentCountError::class, 'DistributedLock::lock() expects at most 3 arguments, 4 given', fn () => $lock->lock('x', 0, 1, 2));
fails(ArgumentCountError::class, 'DistributedLock::unlockAll() expects exactly 0 arguments, 1 given', fn () => $lock->unlockAll(true));
fails(ArgumentCountError::class, 'DistributedLock::expire() expects exactly 2 arguments, 1 given', fn () => $lock->expire('x'));
fails(TypeError::class, 'DistributedLock::lock(): Argument #2 ($timeout) must be of type *float*, string given', fn () => $lock->lock('x', '1'));
fails(TypeError::class, 'DistributedLock::tryAcquire(): Argument #2 ($timeout) must be of type float, null given', fn () => $lock->tryAcquire('x', null));
$lease = $lock->acquire(unique());
fails(ArgumentCountError::class, 'Dlock\Lease::refresh() expects at most 1 argument, 2 given', fn () => $lease->refresh(1, 2));
fails(ArgumentCountError::class, 'Dlock\Lease::isHeld() expects exactly 0 arguments, 1 given', fn () => $lease->isHeld(1));
fails(ArgumentCountError::class, 'Dlock\stats() expects exactly 0 arguments, 1 given', fn () => Dlock\stats(1));
echo "done\n";
?>
--EXPECT--
done
