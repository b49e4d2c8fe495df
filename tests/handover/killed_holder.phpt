--TEST--
When a holder was killed, its waiters follow at the end of its lease, in order
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

foreach ([...shared_locks(), ...shared_pools()] as $locks) {
    $resource = unique($locks->name);
    $holder = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
        $lease = $locks->manager()->acquire($resource, 0, 3);
        $say('held');
        $hear();
    });
    $holder->hear();
    $line = $locks->line(6, $resource, gate());
    $holder->kill();
    [$redis] = $locks->raw();
    $start = now();
    $left = $locks->left($redis, $resource) / 1000;
    $times = [];
    foreach ($line as $i => $waiter) {
        [$times[], , $held] = $waiter->hear();
        same(true, $held, "$locks->name: waiter $i");
        $waiter->say('release');
        same(true, $waiter->result(), "$locks->name: release() of waiter $i");
    }
    // Aimed at: 100 ms after the end of the lease. A waiter that only looks now and then would need up to 2.3 s.
    within($left, $times[0] - $start, $left + SOON, "$locks->name: seconds until the first waiter holds");
    within(0, end($times) - $times[0], SOON, "$locks->name: seconds until the last one follows");
    $sorted = $times;
    sort($sorted);
    same($sorted, $times, "$locks->name: times in order of arrival");
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
