--TEST--
Waiters acquire the lock in the order in which they came, whatever came between
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
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $keeper = keep_alive($locks->addresses, Locks::key($resource));
    $line = $locks->line(10, $resource, $gate = gate());
    same(10, $locks->waiting($resource), "$locks->name: in the queue");
    // A client that asks once does not pass the queue.
    same(true, $lease->release(), "$locks->name: the holder");
    same(null, $locks->manager()->tryAcquire($resource), "$locks->name: one who did not queue");
    $times = $tokens = [];
    foreach ($line as $i => $waiter) {
        [$times[], $tokens[], $held] = $waiter->hear();
        same(true, $held, "$locks->name: waiter $i holds");
        $waiter->say('release');
        same(true, $waiter->result(), "$locks->name: release() of waiter $i");
    }
    $keeper->kill();
    $sorted = $times;
    sort($sorted);
    same($sorted, $times, "$locks->name: times in order of arrival");
    sort($tokens);
    same($tokens, array_values(array_unique($tokens)), "$locks->name: fencing tokens");
    $locks->waitUntilQueuesGone($resource);
    same(true, $locks->manager()->acquire($resource, 0)->release(), "$locks->name: free in the end");
}
echo "done\n";
?>
--EXPECT--
done
