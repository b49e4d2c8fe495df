--TEST--
RedLock's tickets come from the servers; the first waiter is served first, whatever the servers have counted, and whichever of them answered
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--INI--
; Servers that have just been started would all have to answer.
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

$locks = private_locks('RedLock', 3);

// A server tells its next ticket to a client that it refuses and that does not queue.
$redis = $locks->raw()[0];
$keys = ['Lock:x', 'dlock:fence', Locks::queue('x'), Locks::waiters('x')];
$next = fn (string $ticket = '', string $grant = '0') => $redis->cmd('EVAL', script('acquire'), 4, ...$keys, ...['t', 1000, 5, $grant, '', $ticket]);
$redis->cmd('SET', 'Lock:x', 'other', 'PX', 600_000);
$last = (1 << 53) - 1;
foreach ([[null, null, '1'], [100, null, '101'], [100, 500, '501'], [900, 500, '901'], [500, 500, '501'], ['1795343137003530', 500, '1795343137003531'],
    ['junk', 500, '501'], ['1e300', 500, '501'], ['-1e300', null, '1'], ['nan', 500, '501'], ['inf', 500, '501'], ["$last", 500, '501'],
    [$last - 1, 500, "$last"], [100, "$last", "$last"], [100, '1e300', "$last"]] as [$fence, $queued, $expected]) {
    $redis->cmd('DEL', 'dlock:fence', Locks::queue('x'));
    $fence === null || $redis->cmd('SET', 'dlock:fence', $fence);
    $queued === null || $redis->cmd('ZADD', Locks::queue('x'), $queued, 'w', 3, 'v');
    $reply = $next();
    same([-1, $expected, 0], array_slice($reply, 1), 'after ' . shown($fence) . ' and ' . shown($queued));
}
same('0', $next(grant: '')[2], 'where there is one server');
same('0', $next('77')[2], 'to who has one');
$redis->cmd('FLUSHALL');

// The servers' counts are decades apart, and each waiter comes while another server is stopped: any two waiters have
// asked a common server.
$redis->cmd('SET', 'dlock:fence', (time() + 50 * 365 * 24 * 3600) * 1_000_000);
$locks->raw()[1]->cmd('SET', 'dlock:fence', 5);
for ($round = 0; $round < 3; $round++) {
    $resource = unique("$round");
    $gate = gate();
    $lease = $locks->manager()->acquire($resource, 5, 100);
    // The client does not wait for the third server's answer. A server that had not granted the lock yet would grant it
    // to a waiter, which is in no queue there.
    wait_for(fn () => !in_array(null, array_map(fn ($redis) => $redis->cmd('GET', "Lock:$resource"), $locks->raw())), 60, 'all servers to grant the lock');
    $keepers = array_map(fn (string $address) => keep_alive([$address], Locks::key($resource)), $locks->addresses); // each server stops at times
    $line = [];
    for ($i = 0; $i < 5; $i++) {
        $stopped = ($round + $i) % 3;
        $others = array_diff_key($locks->raw(), [$stopped => 1]);
        $locks->servers[$stopped]->pause();
        $line[] = $locks->waiter($resource, $gate);
        foreach ($others as $other) {
            wait_for(fn () => $other->cmd('ZCARD', Locks::queue($resource)) > $i, 60, "waiter $i");
        }
        $locks->servers[$stopped]->resume();
        wait_for(fn () => $locks->raw()[$stopped]->cmd('ZCARD', Locks::queue($resource)) > $i, 60, "waiter $i at the server that was stopped");
    }
    $orders = $locks->queues($resource);
    same([$orders[0], $orders[0], $orders[0]], $orders, "round $round: the queues");
    same(true, $lease->release(), "round $round: the holder");
    $times = [];
    foreach ($line as $i => $waiter) {
        [$times[]] = $waiter->hear();
        $waiter->say('release');
        same(true, $waiter->result(), "round $round: release() of waiter $i");
    }
    array_map(fn (ForkedChild $keeper) => $keeper->kill(), $keepers);
    $sorted = $times;
    sort($sorted);
    same($sorted, $times, "round $round: times in order of arrival");
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
