--TEST--
RedLock under contention: no overlap, and nobody waits much longer than others
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
$gate = gate();
const SECTIONS = 25;
$start = hrtime(true);
$all = fork_run(20, function () use ($locks, $resource, $gate) {
    $manager = $locks->manager();
    $waits = [];
    for ($i = 0; $i < SECTIONS; $i++) {
        $start = hrtime(true);
        $lease = $manager->acquire($resource, 100, 60);
        $waits[] = (hrtime(true) - $start) / 1e9;
        enter($gate);
        usleep(1000);
        leave($gate);
        $lease->release() || throw new RuntimeException('the lock was lost');
    }
    return $waits;
}, 'exit', 110);
$seconds = (hrtime(true) - $start) / 1e9;
// Their beginning and their end, when there are fewer, are no measure.
$waits = array_merge(...array_map(fn (array $waits) => array_slice($waits, 2, -2), $all));
$median = median($waits);
holds(max($waits) <= 3 * $median + 0.5, 'the longest wait', max($waits), $median);
// Without the hand-over, by random retries, there are some 50.
holds(20 * SECTIONS / $seconds > 40, 'sections per second', 20 * SECTIONS / $seconds);
$locks->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
