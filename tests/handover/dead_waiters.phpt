--TEST--
Waiters that were killed are skipped at once
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

foreach (['DistributedLock', 'RedLock'] as $kind) {
    $locks = private_locks($kind, 3);
    $handOver = function (int $dead, int $live) use ($locks, $kind) {
        $resource = unique("$kind $dead");
        $lease = $locks->manager()->acquire($resource, 0, 1000);
        $line = $locks->line($dead + $live, $resource, gate());
        foreach (array_splice($line, 0, $dead) as $waiter) {
            $waiter->kill();
        }
        // The server has seen that their connections are closed.
        foreach ($locks->raw() as $redis) {
            wait_for(fn () => count($redis->cmd('PUBSUB', 'CHANNELS', 'dlock:inbox:*')) === $live, 60, 'the inboxes to go');
        }
        $start = now();
        $lease->release();
        $first = fn () => array_keys(array_filter($line, fn ($waiter) => $waiter->hasSaid()));
        wait_for(fn () => $first() !== [], 50, 'a live one to hold; the queues: ' . json_encode($locks->queues($resource)));
        same([0], $first(), "$kind, $dead dead: who holds");
        [$at, , $held] = $line[0]->hear();
        same(true, $held, "$kind, $dead dead: the first live one holds");
        foreach ($line as $i => $waiter) {
            $i === 0 || $waiter->hear();
            $waiter->say('release');
            same(true, $waiter->result(), "$kind, $dead dead: release() of live waiter $i");
        }
        $locks->waitUntilQueuesGone($resource);
        return $at - $start;
    };
    $disturbed = [$handOver(10, 10), $handOver(10, 10)];
    // One grant that is not taken up would cost 3 s; ten, 30 s.
    within(0, min($disturbed), 20, "$kind: seconds of a hand-over past ten dead ones");
}
echo "done\n";
?>
--EXPECT--
done
