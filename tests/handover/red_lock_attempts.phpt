--TEST--
RedLock::lock(): retryCount and retryDelay bound a wait, which a handover may end earlier
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

[, $locks] = shared_locks();
$resource = unique();
$lease = $locks->manager()->acquire($resource, 0, 100);

// The lock is not available: retryCount attempts, with pauses of at most retryDelay.
foreach ([[1, 60_000, 0, 30], [3, 300, 0.05, 1.5], [6, 100, 0.05, 1.5]] as [$count, $delay, $least, $most]) {
    $manager = $locks->manager(retryCount: $count, retryDelay: $delay);
    $manager->isLocked($resource); // connects
    for ($attempt = 1, $seconds = INF; $seconds > $most && $attempt <= 10; $attempt++) { // a machine may stand still
        $seconds = seconds(fn () => same(false, $manager->lock($resource, 10_000), "retryCount $count"));
    }
    within($least, $seconds, $most, "retryCount $count, retryDelay $delay: seconds");
}
same(0, $locks->waiting($resource), 'queue');

// The lock is released meanwhile: the waiter does not wait until the end of its pause.
$waiter = fork_child(function (callable $say) use ($locks, $resource) {
    $manager = $locks->manager(retryCount: 3, retryDelay: 40_000);
    $lock = $manager->lock($resource, 60_000);
    $at = now();
    return [$at, is_array($lock) && $manager->unlock($lock)];
});
at_end($waiter->kill(...));
$locks->waitUntilQueued($resource, 1);
$start = now();
same(true, $lease->release(), 'the holder');
[$at, $got] = $waiter->result();
same(true, $got, 'lock() and unlock()');
within(-1, $at - $start, SOON, 'seconds from the release to the waiter');
$locks->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
