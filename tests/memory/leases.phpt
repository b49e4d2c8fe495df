--TEST--
memory://: leases end, are renewed, and are lost when they expire; onLoss: "throw"; a wait for a lease that ends
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

final class Stop extends Exception
{
}

$ttl = 6.0;
$make = fn (mixed ...$options) => new DistributedLock('memory://', ...['ttl' => $ttl, ...$options]);
$plain = $make();
$always = $make(renew: true);
$never = $make(renew: false);

// ---- which leases are renewed ----
$leases = [
    'acquire()' => [true, $plain->acquire(...)],
    'tryAcquire()' => [true, $plain->tryAcquire(...)],
    'a ttl' => [false, fn ($r) => $plain->acquire($r, 0, $ttl)],
    'renew: true, a ttl' => [true, fn ($r) => $always->acquire($r, 0, $ttl)],
    'renew: false' => [false, $never->acquire(...)],
    'refresh()' => [true, function ($r) use ($plain) {
        ($lease = $plain->acquire($r))->refresh();
        return $lease;
    }],
    'refresh(), renew: false' => [false, function ($r) use ($never, $ttl) {
        ($lease = $never->acquire($r))->refresh($ttl);
        return $lease;
    }],
    'a shorter time by refresh()' => [true, function ($r) use ($plain, $ttl) {
        ($lease = $plain->acquire($r))->refresh(30);
        $lease->refresh($ttl);
        return $lease;
    }],
    'attach()' => [true, fn ($r) => $plain->attach($plain->acquire($r)->detach())],
    'attach(), renew: false' => [false, fn ($r) => $never->attach($plain->acquire($r)->detach())],
];
$locks = [
    'lock()' => [true, fn ($r) => $plain->lock($r, 0)],
    'lock() with a ttl' => [false, fn ($r) => $plain->lock($r, 0, $ttl)],
    'expire()' => [false, fn ($r) => $plain->lock($r, 0) && $plain->expire($r, $ttl)],
];
$held = [];
foreach ($leases as $what => [, $take]) {
    $held[$what] = $take($what);
}
foreach ($locks as $what => [, $take]) {
    same(true, $take($what), $what);
}
ini_set('dlock.max_hold', '2');
$limited = $make()->acquire('limited');
ini_set('dlock.max_hold', '0');
nap(1.5 * $ttl);
foreach ($leases as $what => [$goes_on]) {
    same([$goes_on ? LeaseState::Held : LeaseState::Lost, $goes_on], [$held[$what]->state(), $plain->isLocked($what)], "$what: state()");
    same($goes_on, $held[$what]->release(), "$what: release()");
}
foreach ($locks as $what => [$goes_on]) {
    same([$goes_on, $goes_on], [$plain->isLocked($what), $plain->release($what)], $what);
}
same([false, LeaseState::Lost], [$plain->isLocked('limited'), $limited->state()], 'dlock.max_hold');
holds(Dlock\stats()['renewals'] >= 3 && Dlock\stats()['renewal_failures'] === 0, 'renewals', Dlock\stats());

// ---- leases that expire ----
$lease = $plain->acquire('short', 0, 0.1);
wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
same([LeaseState::Lost, 0.0, false], [$lease->state(), $lease->remaining(), $lease->release()], 'a lease that has ended');
fails(LeaseLostException::class, 'The lock "short" was lost', $lease->assertHeld(...));
fails(LeaseLostException::class, 'The lock "short" was lost', $lease->refresh(...));
$mine = $plain->acquire('short', 0, 100);
same(false, $lease->release(), 'release() of what somebody else has by then');
same([true, true], [$mine->isHeld(), $mine->release()], 'what somebody else has by then');
fails(LeaseLostException::class, 'The lock "section" was lost before its critical section ended', fn () => $plain->synchronized('section', fn () => nap(0.3), ttl: 0.1));
$e = thrown_by(function () use ($make, &$lease) {
    $lease = $make(onLoss: 'throw')->acquire('thrown', 60, 0.3);
    busy(10);
});
same([LeaseLostException::class, LeaseState::Lost], [get_debug_type($e), $lease->state()], 'onLoss: "throw"');

// ---- a wait ----
$start = now();
$lease = $plain->acquire('r', 60, 0.3);
$next = $plain->acquire('r', 60, 100);
within(0.2, now() - $start, SOON, 'seconds until a lease has ended that was waited for');
same([false, true], [$lease->isHeld(), $next->fencingToken > $lease->fencingToken], 'the one that has ended');
foreach ([0.0, 0.05, 0.4] as $timeout) {
    within($timeout, seconds(fn () => same(null, $plain->tryAcquire('r', $timeout), "a wait of $timeout s")), SOON, "a wait of $timeout s: seconds");
}
fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0.2 s', fn () => $plain->acquire('r', 0.2));
same(true, $next->release(), 'release()');

pcntl_async_signals(true);
$lease = $plain->acquire('r', 0, 100);
pcntl_signal(SIGALRM, fn () => throw new Stop('now'));
$start = now();
same(Stop::class, get_debug_type(thrown_by(fn () => [pcntl_alarm(1), $plain->acquire('r', 60)])), 'a signal handler that throws');
within(0.5, now() - $start, SOON, 'a signal handler that throws: seconds');
pcntl_signal(SIGALRM, function () use ($lease) {
    $lease->release();
});
pcntl_alarm(1);
same(true, $plain->lock('r', 20), 'a signal handler that releases');
same(true, $plain->release('r'), 'nobody waits any more');

// A renewed lease would never end.
$renewed = $plain->acquire('renewed');
fails(DeadlockException::class, 'This process holds the lock "renewed" already, and would wait for itself', fn () => $plain->acquire('renewed', 10));
echo "done\n";
?>
--EXPECT--
done
