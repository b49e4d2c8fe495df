--TEST--
memcached: the life of a lock by lock() and by leases, and what the server has of it meanwhile
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

$server = new PrivateMemcached();
$raw = $server->raw();
$one = new DistributedLock($server->dsn());
$other = new DistributedLock($server->dsn());

// ---- lock() and its like ----
same(true, $one->lock('r', 0), 'lock()');
holds((bool) preg_match('/^[0-9a-f]{32,}$/', (string) $raw->get('Lock:r')), 'the key has a token of 128 bits or more', $raw->get('Lock:r'));
within(0, $raw->left('Lock:r'), 10, 'the time that the key has left: dlock.ttl');
same(true, $one->isLocking('r'), 'isLocking()');
same(true, $one->isLocked('r'), 'isLocked()');
same(false, $one->isLocked('s'), 'isLocked() of another resource');
same(false, $one->lock('r', 0), 'lock() again: it is not reentrant');
same([false, false, false], [$other->lock('r', 0), $other->isLocking('r'), $other->release('r')], 'another object');
fails(DeadlockException::class, 'This process holds the lock "r" already, and would wait for itself', fn () => $other->lock('r', 10));
same(true, $one->expire('r', 100), 'expire()');
within(50, $raw->left('Lock:r'), 100, 'the time that the key has left after expire()');
same([false, false], [$other->expire('r', 100), $one->expire('s', 100)], 'expire() of what is not held');
same(true, $one->release('r'), 'release()');
same(null, $raw->get('Lock:r'), 'the key after release()');
same([false, false, false], [$one->release('r'), $one->isLocking('r'), $one->isLocked('r')], 'after release()');
same([true, true], [$other->lock('r', 0, 50), $other->unlock('r')], 'lock() with a lease time, unlock()');
same([true, true], [$one->lock('a', 0), $one->lock('b', 0, 30)], 'two locks');
same(true, $one->unlockAll(), 'unlockAll()');
same(['dlock:fence'], array_values(array_diff($raw->keys(), ['dlock:clock'])), 'keys after unlockAll()');
same(true, $one->unlockAll(), 'unlockAll() of nothing');

// ---- leases ----
$lease = $one->acquire('r', 0, 100);
same([Lease::class, 'r', $raw->get('Lock:r')], [$lease::class, $lease->resource, $lease->token], 'a lease');
holds($lease->fencingToken > 0, 'its fencing token', $lease->fencingToken);
same([LeaseState::Held, true, null], [$lease->state(), $lease->isHeld(), $lease->assertHeld()], 'while it is held');
// The server's clock ticks once a second, and one percent is for clocks that run differently.
within(50, $lease->remaining(), 100 - 1 - MEMCACHED_MARGIN, 'remaining()');
same(null, $other->tryAcquire('r'), 'tryAcquire() of what is held');
fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0 s', fn () => $other->acquire('r', 0));
$lease->refresh();
within(50, $lease->remaining(), 100 - 1 - MEMCACHED_MARGIN, 'remaining() after refresh()');
$lease->refresh(1000);
within(500, $raw->left('Lock:r'), 1000, 'the time that the key has left after refresh(1000)');
within(500, $lease->remaining(), 1000 - 10 - MEMCACHED_MARGIN, 'remaining() after refresh(1000)');
$lease->refresh(50);
within(10, $raw->left('Lock:r'), 50, 'the time that the key has left after refresh(50)');
within(10, $lease->remaining(), 50 - 0.5 - MEMCACHED_MARGIN, 'remaining() after refresh(50)');
same([true, LeaseState::Released, false, 0.0, false], [$lease->release(), $lease->state(), $lease->isHeld(), $lease->remaining(), $lease->release()], 'release()');
fails(LeaseLostException::class, 'The lock "r" has been released or detached', $lease->refresh(...));
same(null, $raw->get('Lock:r'), 'the key after release()');

// The lease goes out of scope.
(function () use ($one) {
    $lease = $one->acquire('scope', 0, 100);
})();
wait_for(fn () => $raw->get('Lock:scope') === null, 60, 'the end of a lease out of scope');

// An object cannot release a lock that another object holds.
$lease = $one->acquire('r', 0);
same([false, true], [$other->release('r'), $lease->release()], 'release() of a lease');

// ---- synchronized() ----
same(['result', true], $one->synchronized('r', fn (Lease $lease) => ['result', $raw->get('Lock:r') === $lease->token]), 'synchronized()');
same(null, $raw->get('Lock:r'), 'the key after synchronized()');
fails(DomainException::class, 'of the section', fn () => $one->synchronized('r', fn () => throw new DomainException('of the section')));
same(null, $raw->get('Lock:r'), 'the key after a section that threw');

// ---- prefixes ----
$mine = new DistributedLock($server->dsn(), 'app:');
$plain = new DistributedLock($server->dsn(), '');
$lease = $mine->acquire('r', 0);
same($lease->token, $raw->get('app:r'), 'the key with another prefix');
same([false, true, null], [$one->isLocked('r'), $plain->isLocked('app:r'), $plain->tryAcquire('app:r')], 'other prefixes');

// ---- leases that expire ----
for ($attempt = 1, $late = true; $late && $attempt <= 10; $attempt++) { // again if the machine stood still for the margin
    $lease = $one->acquire($short = "short-$attempt", 60, MEMCACHED_TTL);
    $end = now() + $lease->remaining();
    wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
    $lasts = $one->isLocked($short);
    $late = now() - $end > MEMCACHED_MARGIN / 4;
}
same(true, $lasts, 'the key lasts for longer');
same([LeaseState::Lost, 0.0], [$lease->state(), $lease->remaining()], 'after the lease');
fails(LeaseLostException::class, "The lock \"$short\" was lost", $lease->assertHeld(...));
fails(LeaseLostException::class, "The lock \"$short\" was lost", $lease->refresh(...));
wait_for(fn () => !$one->isLocked($short), 60, 'the end of the key');
same(false, $lease->release(), 'release() of what was lost');
echo "done\n";
?>
--EXPECT--
done
