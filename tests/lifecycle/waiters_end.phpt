--TEST--
Many waiters all end at their timeout, not before it and not much later, and leave nothing behind
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

$managers = [
    'DistributedLock' => fn () => new DistributedLock(redis_server()),
    'RedLock' => fn () => new RedLock(redis_servers(3)),
    'Semaphore' => fn () => new OnePermit(new Dlock\Semaphore(1, redis_server())),
    'ReadWriteLock' => fn () => (new Dlock\ReadWriteLock(redis_server()))->writeLock(),
];
foreach ($managers as $name => $make) {
    $resource = unique($name);
    $lease = $make()->acquire($resource, 0, 1000);
    // Ten times the longest pause between two attempts, so that a pause that ignores the deadline would show.
    $times = fork_run(20, function (int $i) use ($make, $resource) {
        $manager = $make();
        $manager->isLocked($resource);
        $timeout = 0.2 + 0.013 * $i;
        $start = now();
        $got = $manager->tryAcquire($resource, $timeout);
        return [$got, now() - $start - $timeout];
    });
    foreach ($times as $i => [$got, $over]) {
        same(null, $got, "$name: waiter $i");
        within(0, $over, SOON, "$name: seconds over the timeout of waiter $i");
    }
    same(true, $lease->isHeld() && $lease->release(), "$name: the holder");
    same(false, $make()->isLocked($resource), "$name: locked in the end");
}

// Without other processes a wait ends exactly at its timeout: the shortest of a few tries shows it.
foreach ($managers as $name => $make) {
    $manager = $make();
    $resource = unique("precise $name");
    $lease = $make()->acquire($resource, 0, 1000);
    foreach ([0.001, 0.01, 0.1] as $timeout) {
        $over = INF;
        for ($try = 0; $try < 20 && $over > 0.02; $try++) {
            $time = seconds(fn () => $manager->tryAcquire($resource, $timeout));
            holds($time >= $timeout, "$name: not before $timeout s", $time);
            $over = min($over, $time - $timeout);
        }
        within(0, $over, SOON, "$name: seconds over a timeout of $timeout");
    }
}
echo "done\n";
?>
--EXPECT--
done
