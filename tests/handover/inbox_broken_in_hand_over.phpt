--TEST--
A waiter whose inbox is closed at the moment of the release still acquires the lock in its turn
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
for ($round = 0; $round < 20; $round++) {
    $resource = unique("$round");
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $line = $locks->line(2, $resource, gate());
    $killer = $locks->addresses[0];
    // Both requests are sent at once, on two connections: the server executes them in either order.
    $redis->send('CLIENT', 'KILL', 'TYPE', 'pubsub');
    $start = now();
    $lease->release();
    $redis->reply();
    $order = [];
    foreach ($line as $waiter) {
        $order[] = [$waiter, null];
    }
    // The second waiter may be first if the first was not there.
    $pending = $line;
    while ($pending) {
        foreach ($pending as $i => $waiter) {
            try {
                [$at, , $held] = $waiter->hear(0.01);
            } catch (RuntimeException $e) {
                if (!str_contains($e->getMessage(), 'no word')) {
                    throw $e;
                }
                now() - $start < 100 || throw $e;
                continue;
            }
            same(true, $held, "round $round: waiter $i");
            within(0, $at - $start, SOON, "round $round: seconds until waiter $i holds");
            $waiter->say('release');
            same(true, $waiter->result(), "round $round: release() of waiter $i");
            unset($pending[$i]);
        }
    }
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
