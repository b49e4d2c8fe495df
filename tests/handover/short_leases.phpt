--TEST--
A lease that was handed over is extended to its lease time once, not after refresh(), and before it is detached or the request leaves it; a short one is extended at once
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

$locks = private_locks('DistributedLock');
[$redis] = $locks->raw();
$pttl = fn (string $resource) => $redis->cmd('PTTL', Locks::key($resource));
/* Starts a process that is handed the lock, and does this with the lease. */
$handed_over = function (string $resource, float $ttl, Closure $do, array $options = []) use ($locks): ForkedChild {
    for ($attempt = 1; ; $attempt++) {
        $lease = $locks->manager()->acquire($resource, 60, 100);
        $child = fork_child(function (Closure $say, Closure $hear) use ($locks, $resource, $ttl, $do, $options) {
            $manager = $locks->manager(...$options);
            $before = Dlock\stats()['hand_overs_received'];
            $lease = $manager->acquire($resource, 60, $ttl);
            $is_handed_over = Dlock\stats()['hand_overs_received'] === $before + 1;
            $say($is_handed_over);
            return $is_handed_over ? $do($lease, $say, $hear) : $lease->release();
        });
        at_end($child->kill(...));
        $locks->waitUntilQueued($resource, 1);
        same(true, $lease->release(), "$resource: the holder");
        if ($child->hear()) {
            return $child;
        }
        $attempt < 10 || throw new RuntimeException('it was not handed over');
        $child->result(); // its process stood still, and the server does not wait for it
    }
};

// The lease lasts for its lease time from the handover on, and no longer.
$resource = unique('once');
$start = now();
$child = $handed_over($resource, 100, function (Dlock\Lease $lease, Closure $say, Closure $hear) {
    $say('handed over');
    $hear();
    return [$lease->isHeld(), $lease->remaining(), Dlock\stats()['renewals']];
});
$child->hear();
pause(3.5);
within(50_000, $pttl($resource), 100_000, 'ms on the server 3.5 s later');
$child->say('go on');
[$held, $remaining, $renewals] = $child->result();
same(true, $held, 'held 3.5 s later');
within(45, $remaining, 99, 'remaining 3.5 s later');
same(1, $renewals, 'requests for more time');

// No unwanted extension follows refresh().
$resource = unique('refreshed');
$child = $handed_over($resource, 60, function (Dlock\Lease $lease, Closure $say, Closure $hear) {
    $lease->refresh(40);
    $say('refreshed');
    $hear();
    return $lease->isHeld();
});
same('refreshed', $child->hear(), 'refresh()');
pause(2.0);
within(10_000, $pttl($resource), 38_100, 'ms on the server 2 s after refresh(40)');
$child->say('go on');
same(true, $child->result(), 'held after refresh(40)');

// Another process attaches the lease later than a grant lasts.
$child = $handed_over(unique('detached'), 60, fn (Dlock\Lease $lease) => $lease->detach());
$handle = $child->result();
// A lease that the request leaves behind lasts for its lease time.
$left = ['kept by an object' => unique('left'), 'dropped' => unique('dropped')];
$children = [
    $handed_over($left['kept by an object'], 60, function (Dlock\Lease $lease) { $GLOBALS['kept'] = $lease; }, ['releaseOnShutdown' => false]),
    $handed_over($left['dropped'], 60, function (Dlock\Lease $lease) { register_shutdown_function(function () use ($lease) {}); }, ['releaseOnShutdown' => false]),
];
foreach ($children as $child) {
    wait_for(fn () => $child->hasEnded(), 60, 'the process to end');
}
pause(3.2);
$lease = $locks->manager()->attach($handle);
within(20, $lease->remaining(), 60, 'remaining after detach() and attach()');
same(true, $lease->release(), 'release() after attach()');
foreach ($left as $how => $resource) {
    within(20_000, $pttl($resource), 60_000, "ms on the server, $how");
}

// A lease time below that of a grant: the lease may have expired when the test looks.
$resource = unique('short');
$child = $handed_over($resource, 1.5, function (Dlock\Lease $lease, Closure $say, Closure $hear) {
    $say($lease->remaining());
    $hear();
    return $lease->release() || $lease->state() === Dlock\LeaseState::Lost;
});
within(0, $child->hear(), 1.5, 'remaining of a short one');
within(-2, $pttl($resource), 1500, 'ms on the server of a short one');
$child->say('go on');
same(true, $child->result(), 'release() of a short one');
echo "done\n";
?>
--EXPECT--
done
