--TEST--
RedLock: a waiter queues on every server, in the same order, also where some answer later than others
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
for ($round = 0; $round < 3; $round++) {
    $resource = unique("$round");
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $line = $locks->line(3, $resource);
    // On the servers that opened the inbox last, it queues when it looks again.
    try {
        wait_for(fn () => array_map(count(...), $locks->queues($resource)) === [3, 3, 3, 3, 3], 60, 'all in all queues');
    } catch (RuntimeException) {
        same([3, 3, 3, 3, 3], array_map(count(...), $locks->queues($resource)), "round $round: waiters by server");
    }
    same(1, count(array_unique($locks->queues($resource), SORT_REGULAR)), "round $round: different queues");
    same(true, $lease->release(), 'the holder');
    foreach ($line as $waiter) {
        $waiter->hear();
        $waiter->say('release');
        same(true, $waiter->result(), 'release()');
    }
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
