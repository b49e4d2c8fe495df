--TEST--
Dlock\stats() counts acquisitions, waits, timeouts, releases, losses and connections of this process
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$stats = Dlock\stats();
same(['acquisitions' => 0, 'waits' => 0, 'wait_time' => 0.0, 'timeouts' => 0, 'guard_waits' => 0, 'releases' => 0,
    'hand_overs_given' => 0, 'hand_overs_received' => 0, 'renewals' => 0, 'renewal_failures' => 0, 'losses' => 0,
    'connections' => 0, 'reconnections' => 0, 'sessions' => 0, 'reservations' => 0, 'reservations_refused' => 0, 'sales' => 0, 'late_sales' => 0,
    'cancellations' => 0, 'refunds' => 0, 'expired_refusals' => 0, 'stocks_uncertain' => 0], $stats, 'before anything');

/** What $do adds to the counters. */
function added(callable $do): array
{
    $before = Dlock\stats();
    $do();
    $added = [];
    foreach (Dlock\stats() as $name => $value) {
        if ($value != $before[$name]) {
            $added[$name] = $value - $before[$name];
        }
    }
    return $added;
}

$redis = redis_raw();
$lock = new DistributedLock(redis_server());
$red = new RedLock(redis_servers(3));
$key = unique();
same([], added(fn () => new DistributedLock(redis_server(1))), 'a constructor');
same(['acquisitions' => 1, 'connections' => 1], added(fn () => $lock->lock($key, 0)), 'the first lock()');
same(['releases' => 1], added(fn () => $lock->release($key)), 'release()');
same([], added(fn () => $lock->release($key)), 'release() of what is not held');
same(['acquisitions' => 1, 'releases' => 1], added(fn () => $lock->acquire($key)->release()), 'acquire() and release()');
same(['acquisitions' => 1, 'releases' => 1], added(fn () => $lock->synchronized($key, fn () => 1)), 'synchronized()');
same(['acquisitions' => 1, 'connections' => 2], added(function () use ($red, $key, &$held) {
    $held = $red->lock($key);
}), 'RedLock: one acquisition, and two more servers');
same(['releases' => 1], added(fn () => $red->unlock($held)), 'RedLock: one release');

// A wait that succeeds, one that fails, and an attempt that does not wait.
$other = new DistributedLock(redis_server());
$holder = php_child('
    $locks = new DistributedLock($argv[1]);
    $locks->lock($argv[2], 0, 100);
    echo "held\n";
    wait_for(fn () => $locks->inspect($argv[2])->waiting === 1, 60, "the waiter");
    $locks->expire($argv[2], 0.1);
    wait_for(fn () => !$locks->isLocking($argv[2]), 60, "the end of the lease");
', [redis_server(), $key]);
$holder->readLine();
$added = added(fn () => $lock->lock($key, 60));
within(0.001, $added['wait_time'] ?? 0, 60, 'seconds waited');
$holder->wait();
unset($added['wait_time'], $added['hand_overs_received']); // the holder's end, if it comes first, hands the lock over
same(['acquisitions' => 1, 'waits' => 1, 'connections' => 1], $added, 'a wait, with an inbox');
$lock->expire($key, 100);
$added = added(fn () => $other->lock($key, 0.1));
within(0.1, $added['wait_time'] ?? 0, 60, 'seconds waited in vain');
unset($added['wait_time']);
same(['waits' => 1, 'timeouts' => 1], $added, 'a wait in vain');
same(['timeouts' => 1], added(fn () => $other->lock($key, 0)), 'an attempt');
same(['timeouts' => 1], added(fn () => $other->tryAcquire($key)), 'an attempt of tryAcquire()');

// A loss.
$redis->cmd('DEL', "Lock:$key");
same(['losses' => 1], added(fn () => $lock->release($key)), 'release() of what was lost');

// Each call of a stock counts by its outcome.
$stock = new Dlock\Stock('memory://', perBuyer: 2);
$stock->restock('shoe', 4);
/** @return Dlock\Reservation one that has ended, of one shoe */
function ended(Dlock\Stock $stock, string $buyer): Dlock\Reservation
{
    $reservation = $stock->reserve('shoe', $buyer, '1', ttl: 1.0);
    Dlock\Testing::travel(2);
    return $reservation;
}
same(['reservations' => 1], added(function () use ($stock, &$ann) {
    $ann = $stock->reserve('shoe', 'ann', '1');
}), 'reserve()');
same(['reservations' => 1], added(fn () => $stock->reserve('shoe', 'ann', '1')), 'the same again');
same(['reservations_refused' => 1], added(fn () => $stock->reserve('hat', 'bob', '1')), 'none');
same(['reservations_refused' => 1], added(fn () => thrown_by(fn () => $stock->reserve(['shoe' => 2], 'ann', '2'))), 'above the limit');
same(['sales' => 1], added(fn () => $ann->confirm()), 'confirm()');
same([], added(fn () => [$ann->confirm(), $ann->cancel()]), 'what is sold');
same(['reservations' => 1, 'sales' => 1, 'late_sales' => 1], added(fn () => ended($stock, 'bob')->confirm()), 'a late payment');
same(['reservations' => 1, 'cancellations' => 1], added(fn () => $stock->reserve('shoe', 'cid', '1')->cancel() && $stock->reservation('shoe', 'cid', '1')->cancel()), 'cancel()');
same(['expired_refusals' => 1], added(fn () => thrown_by(fn () => $stock->reservation('shoe', 'cid', '1')->confirm())), 'a payment that is refused');
same(['reservations' => 1], added(fn () => ended($stock, 'dan')->cancel()), 'cancel() of what has ended');
same(['refunds' => 1], added(fn () => [$ann->refund(), $ann->refund()]), 'refund()');
same(['wait_time' => 'float'], array_filter(array_map('get_debug_type', Dlock\stats()), fn ($type) => $type !== 'int'), 'types');
echo "done\n";
?>
--EXPECT--
done
