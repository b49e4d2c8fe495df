--TEST--
ZkLock: a holder that is cut off or stopped knows that the lock is lost before another process can acquire it
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

$timeout = 2.0;
/** Acquires with a short session, which may end early because the machine stands still. */
$acquire = fn (string $hosts, string $resource) => wait_for(function () use ($hosts, $resource, $timeout) {
    try {
        return (new ZkLock($hosts, sessionTimeout: $timeout))->acquire($resource, 30);
    } catch (Dlock\ConnectionException) {
        return null;
    }
}, 60, 'the lock');
/** Waits in line, and reports when it acquires the lock. */
$taker = fn (string $resource) => fork_child(function () use ($resource) {
    $lock = new ZkLock(zk_hosts(), sessionTimeout: 30);
    $lock->lock($resource, 60) || throw new RuntimeException('not locked');
    $at = now();
    $lock->release($resource);
    return $at;
});
$zk = zk_raw();

// A network that loses everything.
$relay = relay(zk_hosts());
foreach ([1, 2, 3] as $round) {
    for ($held = false, $attempt = 1; !$held && $attempt <= 10; $attempt++) { // again if the session has ended because the machine stood still
        $resource = unique("cut-$round-$attempt");
        $lease = $acquire($relay->address(), $resource);
        $other = $taker($resource);
        wait_for(function () use ($lease, $zk, $resource, &$held) {
            $held = $lease->isHeld();
            return !$held || count(zk_nodes($zk, $resource)) === 2;
        }, 60, 'the one that waits');
    }
    $relay->cut();
    $promised = 0;
    do {
        $before = now();
        $left = $lease->remaining();
        $promised = max($promised, $left > 0 ? $before + $left : 0);
        pause(0.0005);
    } while ($lease->isHeld());
    $taken = $other->result();
    holds($promised <= $taken, "cut $round: nobody had the lock while it was promised", $taken - $promised);
    same(Dlock\LeaseState::Lost, $lease->state(), "cut $round: state");
    $relay->mend();
    same(false, $lease->release(), "cut $round: release() of what another process has had");
}
unset($lease);

// A holder that is stopped.
$resource = unique('stopped');
$marker = temporary_directory() . '/stopped';
$holder = fork_child(function (callable $say) use ($resource, $acquire, $marker) {
    $lease = $acquire(zk_hosts(), $resource);
    $say('held');
    do { // the first look that begins after the stop must tell
        clearstatcache();
        $was_stopped = file_exists($marker);
        $look = [$lease->isHeld(), $lease->remaining(), $lease->state()->name];
    } while (!$was_stopped);
    return $look;
});
same('held', $holder->hear(), 'the holder');
$other = $taker($resource);
wait_for(fn () => $other->hasSaid() || count(zk_nodes($zk, $resource)) === 2, 60, 'the one that waits');
$holder->signal(SIGSTOP);
$other->result();
touch($marker);
$holder->signal(SIGCONT);
same([false, 0.0, 'Lost'], $holder->result(), 'what the holder sees first');
echo "done\n";
?>
--EXPECT--
done
