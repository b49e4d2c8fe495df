--TEST--
memory://: Dlock\Testing::travel() ends leases, also renewed ones, reservations and waits, as a suspended machine would
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseState;
use Dlock\OrderState;
use Dlock\ReservationExpiredException;
use Dlock\Testing;

// Locks and permits.
$lock = new DistributedLock('memory://');
$lease = $lock->acquire('r', ttl: 1000.0);
$renewed = $lock->acquire('s');
Testing::travel(900.0);
same([LeaseState::Held, LeaseState::Lost], [$lease->state(), $renewed->state()], 'after 900 s');
within(0, $lease->remaining(), 100, 'what is left');
Testing::travel(100);
same([LeaseState::Lost, false, true], [$lease->state(), $lease->release(), $lock->acquire('r', 0, 100)->release()], 'after its end');
$semaphore = new Dlock\Semaphore(3, 'memory://');
$held = $semaphore->acquire('r', 2, ttl: 50);
same(1, $semaphore->availablePermits('r'), 'two are held');
Testing::travel(51);
same([3, false], [$semaphore->availablePermits('r'), $held->isHeld()], 'and are available again');
$sides = new Dlock\ReadWriteLock('memory://');
$reader = $sides->readLock()->acquire('r', ttl: 50);
same(null, $sides->writeLock()->tryAcquire('r'), 'somebody reads');
Testing::travel(51);
same(true, $sides->writeLock()->acquire('r', 0, 50)->release(), 'not any more');

// A shop.
$stock = new Dlock\Stock('memory://', ttl: 300.0, perBuyer: 2, remember: 3600.0);
$stock->restock('shoe', 3, 'opening');
$paid = $stock->reserve('shoe', 'ann', '1');
$late = $stock->reserve('shoe', 'bob', '1');
$never = $stock->reserve('shoe', 'cid', '1');
same(null, $stock->reserve('shoe', 'dan', '1'), 'all reserved');
$paid->confirm();
Testing::travel(200);
$never->extend();
Testing::travel(101);
same([OrderState::Sold, OrderState::Ended, OrderState::Reserved], [$paid->status(), $late->status(), $never->status()], 'after 301 s');
same(['state' => 'open', 'available' => 1, 'reserved' => 1, 'sold' => 1, 'waiting' => 0, 'uncertain' => null], $stock->counts('shoe'), 'its unit is available');
same(true, $late->confirm(), 'a late payment');
Testing::travel(200);
$stock->restock('shoe', -1);
same([ReservationExpiredException::class, 'ended'], [($e = thrown_by(fn () => $never->confirm()))::class, $e->reason], 'a late payment when nothing is left');
within(0.9, $e->since, SOON, 'since when');
Testing::travel(3601);
same([null, OrderState::Sold], [$stock->order('shoe', 'cid', '1'), $stock->order('shoe', 'ann', '1')->state], 'what came to nothing is forgotten');

// Fencing tokens and times continue with the clock.
$before = $lock->acquire('r', 0, 10)->fencingToken;
Testing::travel(86400);
within($before + 86_400e6, $lock->acquire('r', 0, 10)->fencingToken, $before + 86_460e6, 'a day later');
foreach ([-1.0, NAN, INF, 2e9] as $seconds) {
    fails(ValueError::class, 'Dlock\Testing::travel(): Argument #1 ($seconds) must be between 0 and 1000000000 seconds', fn () => Testing::travel($seconds));
}
echo "done\n";
?>
--EXPECT--
done
