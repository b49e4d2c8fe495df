--TEST--
Runtimes: beginRequest() and endRequest() release what a worker's request forgot
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/openmetrics.inc';

foreach (strand_kinds() as $name => $kind) {
    $manager = $kind->manager();
    $others = [$kind->manager(), $kind->manager(releaseOnShutdown: false)];
    $resource = unique($name);

    same(0, Dlock\endRequest(), "$name: nothing is held");
    $workers = $manager->acquire("$resource-worker", timeout: 0, ttl: $kind->ttl(100));
    Dlock\beginRequest();
    $lease = $manager->acquire($resource, timeout: 0, ttl: $kind->ttl(100));
    $released = $manager->acquire("$resource-released", timeout: 0, ttl: $kind->ttl(100));
    $released->release();
    $left = $others[1]->acquire("$resource-left", timeout: 0, ttl: $kind->ttl(100));
    $count = 2;
    if (method_exists($manager, 'release')) {
        $manager->lock("$resource-name", 0);
        $count++;
    }
    same($count, Dlock\endRequest(), "$name: leases that were held");
    same([Dlock\LeaseState::Released, false], [$lease->state(), $lease->isHeld()], "$name: the Lease stays, and is released");
    same(false, $manager->isLocked($resource), "$name: the lock is free");
    same(true, $manager->isLocked("$resource-left"), "$name: releaseOnShutdown: false is left alone");
    unset($left, $lease);
    same(true, $manager->isLocked("$resource-left"), "$name: also when its Lease goes");
    if ($count === 3) {
        same([false, false], [$manager->isLocked("$resource-name"), $manager->release("$resource-name")], "$name: what lock() took is gone, too");
    }
    same(Dlock\LeaseState::Held, $workers->state(), "$name: the worker's own lives on");
    same(0, Dlock\endRequest(), "$name: once more");
    same(true, $workers->release(), "$name: release() of the worker's own");
}

// ---- a released lease is not held any more, although its object still exists ----
$counted = function (): float {
    $ours = array_filter(open_metrics(Dlock\metrics()), fn (string $sample) => str_starts_with($sample, 'dlock_hold_seconds_count{')
        && str_contains($sample, 'counted'), ARRAY_FILTER_USE_KEY);
    return (float) array_sum($ours);
};
$lease = (new DistributedLock(redis_server()))->acquire(unique('counted'), 0);
$before = $counted();
same(1, Dlock\endRequest(), 'one is held');
same($before + 1, $counted(), 'it has been held until now');
unset($lease);
same($before + 1, $counted(), 'and counts once');

// ---- the label ends with the request ----
Dlock\setLabel('user 7');
Dlock\endRequest();
same(null, Dlock\setLabel('user 8'), 'the label of a request that has ended');

// ---- only the running strand's locks are released; the label is not a strand's ----
Strands::install();
$lock = new DistributedLock(redis_server());
$resource = unique('strands');
$main = $lock->acquire("$resource-main", 0);
$other = null;
Strands::spawn(function () use ($lock, $resource, &$other) {
    $other = $lock->acquire("$resource-other", 0);
    Strands::pause(0.2);
});
Strands::spawn(function () use ($lock, $resource) {
    Dlock\beginRequest();
    $lease = $lock->acquire($resource, 0);
    same([1, false], [Dlock\endRequest(), $lease->isHeld()], 'a strand\'s request ends');
    same('user 8', Dlock\setLabel('user 8'), 'the label of all');
});
Strands::run();
same([true, true], [$main->isHeld(), $other->isHeld()], 'others go on');
same(1, Dlock\endRequest(), '{main}');
same([false, true], [$main->isHeld(), $other->isHeld()], 'its own alone');

// ---- a dead server delays the end for dlock.shutdown_timeout at most ----
$server = redis_private();
$lock = new DistributedLock($server->dsn() . '?read_timeout=60');
$lease = $lock->acquire('x', 0);
$server->pause();
ini_set('dlock.shutdown_timeout', '0.2');
within(0.15, seconds(fn () => same(1, Dlock\endRequest(), 'a server that hangs')), 30, 'the end of a request with a server that hangs');
$server->resume();
wait_for(fn () => $server->raw()->cmd('EXISTS', 'Lock:x') === 0, 60, 'the lock to be free');
echo "done\n";
?>
--EXPECT--
done
