--TEST--
ZkLock: a wait without success lasts for its timeout, and leaves no node
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

$zk = zk_raw();
$resource = unique();
$holder = zk_waiter(zk_hosts(), $resource);
same('held', $holder->hear(), 'the holder');
$lock = new ZkLock(zk_hosts());
same(true, $lock->isLocked($resource), 'isLocked()'); // connects

// Without a wait.
for ($i = 0; $i < 20; $i++) {
    $time = seconds(function () use ($lock, $resource) {
        same(false, $lock->lock($resource, 0), 'lock() with 0');
        same(null, $lock->tryAcquire($resource), 'tryAcquire()');
        fails('Dlock\AcquireTimeoutException', '*', fn () => $lock->acquire($resource, 0));
    });
    within(0, $time, SOON, 'seconds of trying once');
}
wait_for_nodes($zk, 1, $resource);

// With a timeout.
foreach (['lock' => fn ($t) => $lock->lock($resource, $t), 'tryAcquire' => fn ($t) => $lock->tryAcquire($resource, $t)] as $name => $do) {
    foreach ([0.02, 0.3] as $timeout) {
        $time = seconds(fn () => holds(!$do($timeout), "$name() for $timeout s"));
        within($timeout, $time, SOON, "seconds of $name() for $timeout s");
    }
}
wait_for_nodes($zk, 1, $resource);

// Many processes at a time.
fork_run(8, function () use ($resource) {
    $lock = new ZkLock(zk_hosts());
    for ($i = 0; $i < 20; $i++) {
        if ($lock->lock($resource, $i % 4 * 0.01)) {
            throw new RuntimeException('locked');
        }
    }
    // Nothing of these waits may be left while the session lives on.
    $zk = zk_raw();
    $own = (int) zk_owner($zk, $resource);
    $mine = $lock->acquire(unique('mine' . getmypid()));
    $session = zk_owner($zk, unique('mine' . getmypid()));
    wait_for(function () use ($zk, $resource, $session) {
        foreach (zk_nodes($zk, $resource) as $node) {
            if (($zk->exists("/locks/$resource/$node")['ephemeralOwner'] ?? 0) === $session) {
                return false;
            }
        }
        return true;
    }, 60, 'its nodes to go');
});
wait_for_nodes($zk, 1, $resource);
$stats = Dlock\stats();
same([0, 64], [$stats['acquisitions'], $stats['timeouts']], 'acquisitions, timeouts');

// The waits have not disturbed the holder, and a later waiter acquires the lock.
$waiter = zk_waiter(zk_hosts(), $resource);
wait_for_nodes($zk, 2, $resource);
$holder->say('release');
same('held', $waiter->hear(), 'the waiter');
$waiter->say('release');
same([true, true], [$holder->result(), $waiter->result()], 'release()');
same(true, $lock->lock($resource, 10), 'lock() in the end');
echo "done\n";
?>
--EXPECT--
done
