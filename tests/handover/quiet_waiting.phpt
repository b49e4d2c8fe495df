--TEST--
Forty waiting processes send at most one command each per second
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

$kinds = ['DistributedLock' => private_locks('DistributedLock'), 'RedLock' => private_locks('RedLock')];
$resource = unique();
$leases = $waiters = [];
foreach ($kinds as $name => $locks) {
    $manager = $locks->manager();
    // A majority is enough for a lock. But on a server without it, every look of a waiter would acquire and release it.
    // Once the connections are made, all servers store it.
    wait_for(function () use ($manager, $locks, $resource, $name, &$leases) {
        $leases[$name] = $manager->acquire($resource, 10, 1000);
        return array_filter($locks->raw(), fn (RedisRaw $redis) => !$redis->cmd('EXISTS', Locks::key($resource))) === [] || !$leases[$name]->release();
    }, 60, 'the lock on all servers');
    for ($i = 0; $i < 40; $i++) {
        $waiters[$name][] = $locks->waiter($resource, null, 120, 1000);
    }
}
foreach ($kinds as $name => $locks) {
    // The waiters are on all servers: a waiter that has not reached a server's queue at first does so when it looks
    // again.
    wait_for(fn () => array_unique(array_map('count', $locks->queues($resource))) === [40], 60, "$name: 40 in all queues");
}
pause(0.5); // the rest of what begins a wait
$start = now();
foreach ($kinds as $locks) {
    foreach ($locks->raw() as $redis) {
        $redis->cmd('CONFIG', 'RESETSTAT');
    }
}
pause(6); // the observed time
foreach ($kinds as $name => $locks) {
    foreach ($locks->raw() as $server => $redis) {
        $sent = sent_by_clients($redis);
        $seconds = now() - $start;
        $rate = array_sum($sent) / 40 / $seconds;
        holds($rate <= 1, "$name: at most one command per process and second on server $server", $rate, $sent);
        same([], array_diff(array_keys($sent), ['evalsha', 'eval']), "$name: commands");
    }
    // Waiters do give signs of life, at least every three seconds. Otherwise they would count as dead.
    foreach ($locks->raw() as $server => $redis) {
        wait_for(fn () => array_sum(sent_by_clients($redis)) >= 60, 60, "$name: signs of life on server $server");
    }
    same(40, $locks->waiting($resource), "$name: still waiting");
}
foreach ($waiters as $name => $children) {
    foreach ($children as $child) {
        $child->kill();
    }
    same(true, $leases[$name]->isHeld(), "$name: the holder");
}
echo "done\n";
?>
--EXPECT--
done
