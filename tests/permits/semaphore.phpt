--TEST--
Semaphore: a number of permits at once, several in one lease; what its lease reports; attach() in another process; the same on memory://
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';

use Dlock\AcquireTimeoutException;
use Dlock\LeaseLostException;
use Dlock\LeaseState;
use Dlock\Semaphore;

foreach ([redis_server(), 'memory://'] as $server) {
    $rely = $server === 'memory://' ? 1 : 0.99; // one clock has no drift
    $semaphore = new Semaphore(10, $server);
    $resource = unique('semaphore');

    // Never more than the capacity are out at once.
    same(10, $semaphore->availablePermits($resource), 'nobody has any');
    $leases = [];
    for ($i = 1; $i <= 10; $i++) {
        $leases[] = $lease = $semaphore->acquire($resource, ttl: 100);
        same([1, 10 - $i, LeaseState::Held], [$lease->permits, $semaphore->availablePermits($resource), $lease->state()], "lease $i");
        within(50, $lease->remaining(), 100 * $rely, "remaining() of lease $i");
    }
    same(null, $semaphore->tryAcquire($resource), 'the eleventh');
    fails(AcquireTimeoutException::class, "Could not acquire 1 of the 10 permits of the semaphore \"$resource\" within 0.05 s",
        fn () => $semaphore->acquire($resource, timeout: 0.05));
    fails(AcquireTimeoutException::class, "Could not acquire 3 of the 10 permits of the semaphore \"$resource\" within 0 s",
        fn () => $semaphore->acquire($resource, 3, 0));
    $fences = array_map(fn ($lease) => $lease->fencingToken, $leases);
    holds($fences === array_unique($fences) && $fences === array_values(array_filter($fences, fn ($fence) => $fence > 0)), 'fencing tokens', $fences);
    for ($i = 1; $i < 10; $i++) {
        holds($fences[$i] > $fences[$i - 1], 'fencing tokens rise over all grants of a resource', $fences[$i - 1], $fences[$i]);
    }
    same(10, count(array_unique(array_map(fn ($lease) => $lease->token, $leases))), 'tokens');
    same([true, 1], [$leases[4]->release(), $semaphore->availablePermits($resource)], 'one given back');
    same(false, $leases[4]->release(), 'given back twice');
    same(1, $semaphore->availablePermits($resource), 'is given back once');
    $lease = $semaphore->tryAcquire($resource, ttl: 100);
    holds($lease->fencingToken > $fences[9], 'the next fencing token');
    unset($leases, $lease); // released when they go out of scope, without waiting for the answer
    wait_for(fn () => $semaphore->availablePermits($resource) === 10, 60, 'all permits');

    // Several permits in one lease.
    $lease = $semaphore->acquire($resource, 7, ttl: 100);
    same([7, 3], [$lease->permits, $semaphore->availablePermits($resource)], 'seven permits');
    same([null, null, 3], [$semaphore->tryAcquire($resource, 4), $semaphore->tryAcquire($resource, 10), $semaphore->tryAcquire($resource, 3)?->permits], 'four more, ten more, three more');
    wait_for(fn () => $semaphore->availablePermits($resource) === 3, 60, 'three permits');
    $lease->refresh(50);
    within(10, $lease->remaining(), 50 * $rely, 'refresh()');
    same([true, 10], [$lease->release(), $semaphore->availablePermits($resource)], 'seven given back');
    same(LeaseState::Released, $lease->state(), 'their lease');

    // A critical section.
    same([4, 6], $semaphore->synchronized($resource, fn ($lease) => [$lease->permits, $semaphore->availablePermits($resource)], 4, ttl: 100), 'synchronized()');
    same([1, 'x'], $semaphore->synchronized($resource, fn ($lease) => [$lease->permits, 'x']), 'synchronized() with one permit');
    same(10, $semaphore->availablePermits($resource), 'after the sections');

    // Each request carries the capacity, which the server does not store.
    $small = new Semaphore(3, $server);
    $lease = $semaphore->acquire($resource, 5, ttl: 100);
    same([0, 5, null], [$small->availablePermits($resource), $semaphore->availablePermits($resource), $small->tryAcquire($resource)], 'a semaphore of less capacity');
    same(true, $lease->isHeld() && $lease->release(), 'nothing is taken from holders');
    same(true, $small->acquire($resource)->release(), 'it has its permits afterwards');

    // Another prefix is another pool; the key is exactly prefix and resource.
    $other = new Semaphore(1, $server, 'other:');
    $lease = $other->acquire($resource, ttl: 100);
    same([0, 10], [$other->availablePermits($resource), $semaphore->availablePermits($resource)], 'another prefix');
    $server === 'memory://' || same(1, redis_raw()->cmd('EXISTS', "other:$resource"), 'the key');
    same(true, $lease->release(), 'another prefix: release()');

    // A handle, attached in the same process.
    $lease = $semaphore->acquire($resource, 6, ttl: 100);
    $attached = $semaphore->attach($handle = $lease->detach());
    same([6, 4, LeaseState::Released], [$attached->permits, $semaphore->availablePermits($resource), $lease->state()], 'attach()');
    holds($attached->fencingToken > $lease->fencingToken, 'its fencing token', $attached);
    fails(LeaseLostException::class, "The handle of the lock \"$resource\" is no longer valid: *", fn () => $semaphore->attach($handle), 'a second attach()');
    same([true, 10], [$attached->release(), $semaphore->availablePermits($resource)], 'released');

    // A demand for several permits waits for permits whose lease ends, but not for those of its own process.
    $held = $semaphore->acquire($resource, 8, ttl: 0.3);
    same(true, $semaphore->acquire($resource, 5, 60, 100)->release(), 'had when the lease has ended');
}

$semaphore = new Semaphore(10, redis_server());
$resource = unique('semaphore');

// Attached by another process, with its permits.
$lease = $semaphore->acquire($resource, 6, ttl: 100);
$child = fork_child(function (callable $say, callable $hear) use ($resource) {
    $own = new Semaphore(10, redis_server());
    $lease = $own->attach($hear());
    $say([$lease->permits, $lease->fencingToken, $lease->resource, $lease->isHeld(), $own->availablePermits($resource)]);
    $hear();
    return $lease->release();
});
$child->say($handle = $lease->detach());
[$permits, $fence, $name, $held, $available] = $child->hear();
same([6, $resource, true, 4], [$permits, $name, $held, $available], 'attach() in another process');
holds($fence > $lease->fencingToken, 'its fencing token', $fence);
fails(LeaseLostException::class, "The handle of the lock \"$resource\" is no longer valid: *", fn () => $semaphore->attach($handle), 'a second attach()');
same(4, $semaphore->availablePermits($resource), 'while the other process has them');
$child->say('release');
same([true, 10], [$child->result(), $semaphore->availablePermits($resource)], 'its release()');

// Other classes refuse its handle, and it refuses their handles.
$handle = $semaphore->acquire($resource, ttl: 100)->detach();
$lock = new DistributedLock(redis_server());
$sides = new Dlock\ReadWriteLock(redis_server());
fails(ValueError::class, 'DistributedLock::attach(): Argument #1 ($handle) must be a handle of the same kind of lock; this one is for Dlock\Semaphore', fn () => $lock->attach($handle));
fails(ValueError::class, 'Dlock\ReadWriteLockSide::attach(): *; this one is for Dlock\Semaphore', fn () => $sides->readLock()->attach($handle));
fails(ValueError::class, 'Dlock\Semaphore::attach(): *; this one is for DistributedLock', fn () => $semaphore->attach($lock->acquire($resource, ttl: 100)->detach()));
fails(ValueError::class, 'Dlock\Semaphore::attach(): *; this one is for writeLock() of Dlock\ReadWriteLock',
    fn () => $semaphore->attach($sides->writeLock()->acquire($resource, ttl: 100)->detach()));
same(true, $semaphore->attach($handle)->release(), 'its own handle');
$lock->isLocked($resource) && redis_raw()->cmd('DEL', "Lock:$resource");

// Lost by another program's command.
$lease = $semaphore->acquire($resource, 2, ttl: 100);
redis_raw()->cmd('DEL', "Semaphore:$resource");
fails(LeaseLostException::class, "The lock \"$resource\" was lost*", fn () => $lease->refresh());
same([false, LeaseState::Lost], [$lease->release(), $lease->state()], 'a lease whose key was deleted');
echo "done\n";
?>
--EXPECT--
done
