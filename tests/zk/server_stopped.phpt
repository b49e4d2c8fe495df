--TEST--
ZkLock: when the server stops, a lease turns Uncertain, then Lost, before the server could grant the lock again
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$server = zk_private();
$timeout = 6.0;
$lock = new ZkLock($server->hosts(), sessionTimeout: $timeout);
$resource = unique();
$lease = $lock->acquire($resource, 0);
same(true, $lock->lock("$resource-2"), 'lock()');

$server->pause();
$paused = now();
$is_late = $lease->remaining() < $timeout * 3 / 4; // the machine stood still after the lease began
$states = [];
$promised = $longest = 0;
$before = $paused;
do {
    $longest = max($longest, now() - $before);
    $before = now();
    $state = $lease->state()->name;
    $left = $lease->remaining();
    $promised = max($promised, $left > 0 ? $before + $left : 0);
    $held = $lease->isHeld();
    if (end($states) !== $state) {
        $states[] = $state;
    }
    // The lease may be lost between the two looks.
    holds($held ? $state !== 'Lost' : true, 'isHeld() agrees with state()', $held, $state);
    pause(0.001);
} while ($state !== 'Lost' && $before < $paused + 60);
// On a machine that stands still, the test may miss the time for which it is uncertain.
holds($states === ['Held', 'Uncertain', 'Lost'] || (($longest > 1 || $is_late) && $states === ['Held', 'Lost']), 'states', $states, $longest);
// The server last answered before it was stopped.
within(0, $promised - $paused, $timeout, 'seconds after the stop for which the lease promised to hold');
same([false, 0.0], [$lease->isHeld(), $lease->remaining()], 'isHeld(), remaining()');
fails('Dlock\LeaseLostException', "*\"$resource\" was lost*", fn () => $lease->assertHeld());
fails('Dlock\LeaseLostException', '*', fn () => $lease->refresh());
$time = seconds(fn () => fails('Dlock\ConnectionException', "ZooKeeper at {$server->hosts()}: *", fn () => $lock->isLocked($resource)));
within(0, $time, SOON, 'seconds until isLocked() gives up');

// After the server continues, a lease that was lost by the clock stays lost.
$server->resume();
wait_for(fn () => str_contains(@$server->ask('ruok'), 'imok'), 60, 'the server');
wait_for(function () use ($lock, $resource) {
    try {
        return $lock->lock("$resource-3", 0);
    } catch (Dlock\ConnectionException) {
        return false;
    }
}, 60, 'a lock after the stop');
same(Dlock\LeaseState::Lost, $lease->state(), 'state() after the stop');
same(true, $lock->release("$resource-3"), 'release()');
// The nodes of lost leases disappear, whether or not the session survived.
$lease->release();
$lock->release("$resource-2");
$other = new ZkLock($server->hosts(), sessionTimeout: 10);
foreach ([$resource, "$resource-2"] as $name) {
    same(true, $other->lock($name, 30), 'lock() by another session');
}
echo "done\n";
?>
--EXPECT--
done
