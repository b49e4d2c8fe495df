--TEST--
No script removes more than 100 dead waiters, and a living waiter behind them still acquires the lock
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

/**
 * Adds waiters that have been silent for long, and others whose processes have just died: no client listens to their
 * inboxes.
 */
function add_dead(Locks $locks, string $resource, int $count): void
{
    foreach ($locks->raw() as $redis) {
        $redis->cmd('EVAL', <<<'LUA'
            local now = redis.call('TIME')[1] * 1000000
            for i = 1, tonumber(ARGV[1]) do
                redis.call('ZADD', KEYS[1], i, 'dead' .. i)
                redis.call('HSET', KEYS[2], 'dead' .. i, string.format('%.0f 0 1 dlock:inbox:nobody', i % 2 == 0 and now or 1))
            end
            LUA, 2, Locks::queue($resource), Locks::waiters($resource), $count);
    }
}

foreach (shared_locks() as $locks) {
    $resource = unique($locks->name);
    $lease = $locks->manager()->acquire($resource, 0, 1000);
    add_dead($locks, $resource, 950);
    $waiter = $locks->waiter($resource);
    $locks->waitUntilQueued($resource, 951);
    $lease->release();
    // A client may have continued by now, but by no more than 100 at a time.
    foreach ($locks->queues($resource) as $queue) {
        holds(count(preg_grep('/^dead/', $queue)) % 100 === 50, "$locks->name: 100 at a time", count($queue));
    }
    same(true, $waiter->hear()[2], "$locks->name: the one behind 950 dead ones holds");
    $waiter->say('release');
    same(true, $waiter->result(), "$locks->name: and releases");
    $locks->waitUntilQueuesGone($resource);

    // No living client waits behind them.
    add_dead($locks, $resource, 950);
    same(null, $locks->manager()->tryAcquire($resource), "$locks->name: at once there is no telling who is next");
    $lease = $locks->manager()->acquire($resource, 60);
    same(true, $lease->isHeld() && $lease->release(), "$locks->name: a newcomer gets it");
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
