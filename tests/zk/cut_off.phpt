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
/** Waits in line, and reports when it acquires the lock. */
$taker = fn (string $resource) => fork_child(function () use ($resource, $timeout) {
    $lock = new ZkLock(zk_hosts(), sessionTimeout: $timeout);
    $lock->lock($resource, 60) || throw new RuntimeException('not locked');
    $at = now();
    $lock->release($resource);
    return $at;
});
$zk = zk_raw();

// A network that loses everything.
$relay = relay(zk_hosts());
foreach ([1, 2, 3] as $round) {
    $resource = unique("cut-$round");
    $lock = new ZkLock($relay->address(), sessionTimeout: $timeout);
    $lease = $lock->acquire($resource, 30);
    $other = $taker($resource);
    wait_for_nodes($zk, 2, $resource);
    $relay->cut();
    $promised = 0;
    do {
        $before = now();
        $promised = max($promised, $before + $lease->remaining());
        pause(0.0005);
    } while ($lease->isHeld());
    $taken = $other->result();
    holds($promised <= $taken, "cut $round: nobody had the lock while it was promised", $taken - $promised);
    same(Dlock\LeaseState::Lost, $lease->state(), "cut $round: state");
    $relay->mend();
    same(false, $lease->release(), "cut $round: release() of what another process has had");
}
unset($lease, $lock);

// A holder that is stopped.
$resource = unique('stopped');
$marker = temporary_directory() . '/stopped';
$holder = fork_child(function (callable $say) use ($resource, $timeout, $marker) {
    $lease = (new ZkLock(zk_hosts(), sessionTimeout: $timeout))->acquire($resource, 10);
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
wait_for_nodes($zk, 2, $resource);
$holder->signal(SIGSTOP);
$other->result();
touch($marker);
$holder->signal(SIGCONT);
same([false, 0.0, 'Lost'], $holder->result(), 'what the holder sees first');
echo "done\n";
?>
--EXPECT--
done
