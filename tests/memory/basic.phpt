--TEST--
memory://: the life of a lock by lock() and by leases, as on a server
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

$one = new DistributedLock('memory://');
$other = new DistributedLock('memory://');

// ---- lock() and its like ----
same(true, $one->lock('r', 0), 'lock()');
same([true, true, false], [$one->isLocking('r'), $other->isLocked('r'), $one->isLocked('s')], 'isLocking(), isLocked()');
same(false, $one->lock('r', 0), 'lock() again: it is not reentrant');
same([false, false, false], [$other->lock('r', 0), $other->isLocking('r'), $other->release('r')], 'another object');
fails(DeadlockException::class, 'This process holds the lock "r" already, and would wait for itself', fn () => $other->lock('r', 10));
same([true, true], [$one->expire('r', 100), $one->release('r')], 'expire(), release()');
same([false, false, false, false], [$one->release('r'), $one->expire('r', 1), $one->isLocking('r'), $one->isLocked('r')], 'after release()');
same([true, true, true], [$one->lock('a', 0), $one->lock('b', 0, 30), $one->unlockAll()], 'unlockAll()');
same([false, false], [$one->isLocked('a'), $one->isLocked('b')], 'after unlockAll()');
same([true, true], [$other->lock('a', 0), $other->unlock('a')], 'unlock()');

// ---- leases ----
$lease = $one->acquire('r', 0, 100);
same([Lease::class, 'r', LeaseState::Held, true, null], [$lease::class, $lease->resource, $lease->state(), $lease->isHeld(), $lease->assertHeld()], 'a lease');
holds((bool) preg_match('/^[0-9a-f]{32,}$/', $lease->token), 'its token', $lease->token);
within(90, $lease->remaining(), 100, 'remaining()');
same(null, $other->tryAcquire('r'), 'tryAcquire() of what is held');
fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0 s', fn () => $other->acquire('r', 0));
$lease->refresh(1000);
within(900, $lease->remaining(), 1000, 'remaining() after refresh(1000)');
$lease->refresh(50);
within(40, $lease->remaining(), 50, 'remaining() after refresh(50)');
same([true, LeaseState::Released, false, 0.0, false], [$lease->release(), $lease->state(), $lease->isHeld(), $lease->remaining(), $lease->release()], 'release()');
fails(LeaseLostException::class, 'The lock "r" has been released or detached', $lease->refresh(...));
$fence = $lease->fencingToken;
(function () use ($one) {
    $lease = $one->acquire('scope', 0);
    same(true, $one->isLocked('scope'), 'in scope');
})();
same(false, $one->isLocked('scope'), 'out of scope');
$lease = $one->acquire('r', 0);
same([false, true, true], [$other->release('r'), $lease->fencingToken > $fence, $lease->release()], 'what another object took is not released');

// ---- fencing tokens rise over all tables and resources ----
for ($i = 0; $i < 1000; $i++) {
    $lease = ($i % 2 ? $one : new DistributedLock('memory://fence'))->acquire('r' . $i % 3, 0);
    holds($lease->fencingToken > $fence, "fencing token $i", $fence, $lease->fencingToken);
    $fence = $lease->fencingToken;
    $lease->release();
}
within((wall_ms() - 3600e3) * 1000, $fence, (wall_ms() + 1000) * 1000, 'they are of the size of those of servers');

// ---- synchronized() ----
same(['result', true], $one->synchronized('r', fn (Lease $lease) => ['result', $lease->isHeld() && $one->isLocked('r')]), 'synchronized()');
fails(DomainException::class, 'of the section', fn () => $one->synchronized('r', fn () => throw new DomainException('of the section')));
same(false, $one->isLocked('r'), 'after a section that threw');
fails(DeadlockException::class, '*', fn () => $one->synchronized('r', fn () => $other->synchronized('r', fn () => print("entered\n"))), 'a section in itself');

// ---- handles ----
$lease = $one->acquire('r', 0, 100);
$handle = $lease->detach();
same([LeaseState::Released, true], [$lease->state(), $one->isLocked('r')], 'detach()');
$attached = $other->attach($handle);
same([true, true, 'r'], [$attached->token !== $lease->token, $attached->fencingToken > $lease->fencingToken, $attached->resource], 'attach()');
within(90, $attached->remaining(), 100, 'the time that is left');
fails(LeaseLostException::class, '*"r"*', fn () => $one->attach($handle), 'once more');
same([true, false], [$attached->release(), $one->isLocked('r')], 'release() of what was attached');
fails(LeaseLostException::class, '*"r"*', fn () => $one->attach($handle), 'after release()');
fails(ValueError::class, '*attach(): Argument #1 ($handle)*', fn () => $one->attach(strrev($handle)), 'altered');
$redis = (new DistributedLock(redis_server()))->acquire(unique(), 0, 100);
fails(ValueError::class, '*attach(): Argument #1 ($handle)*', fn () => $one->attach($redis->detach()), 'of a lock on Redis');
$handle = $one->acquire('r', 0, 100)->detach();
Dlock\Testing::travel(101);
fails(LeaseLostException::class, '*"r"*', fn () => $one->attach($handle), 'too late');

// ---- tables and prefixes ----
$tables = [['memory://', 'Lock:'], ['memory://a', 'Lock:'], ['memory://A', 'Lock:'], ['memory://a%20b', 'Lock:'], ['memory://', 'x:'], ['memory://', ''],
    [['scheme' => 'memory', 'host' => 'array'], 'Lock:']];
foreach ($tables as $i => [$spec, $prefix]) {
    $leases[$i] = (new DistributedLock($spec, $prefix))->tryAcquire('table', 0, 100);
    same(true, $leases[$i]?->isHeld(), "table $i");
    same([null, true], [(new DistributedLock($spec, $prefix))->tryAcquire('table'), (new DistributedLock($spec, $prefix))->isLocked('table')], "table $i, another object");
}
same(null, (new DistributedLock('memory://array'))->tryAcquire('table'), 'a table that was named in an array');
same(null, (new DistributedLock('memory://', ''))->tryAcquire('Lock:table'), 'prefix and resource make the key');
foreach ($leases as $i => $lease) {
    same(true, $lease->release(), "table $i: release()");
}

// ---- names of any bytes ----
$names = ['a', 'a b', "a\0", "a\0b", "\0", "\xff", 'ä', '锁', str_repeat('x', 1024), str_repeat('x', 1023) . 'y', ...array_map('chr', range(1, 31))];
$held = array_map(fn (string $name) => $one->acquire($name, 0), $names);
foreach ($names as $i => $name) {
    same([$name, null, true], [$held[$i]->resource, $other->tryAcquire($name), $held[$i]->release()], "name $i");
}
foreach (['', str_repeat('x', 1025)] as $name) {
    fails(ValueError::class, '*must be *1*1024 bytes*', fn () => $one->lock($name, 0), strlen($name) . ' bytes');
}
echo "done\n";
?>
--EXPECT--
done
