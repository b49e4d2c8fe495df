--TEST--
legacy: true: waiters soon find out that an old holder has released, and are served in order
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
require __DIR__ . '/../inc/legacy.inc';

$locks = new Locks('DistributedLock', [redis_addresses()[0]], options: ['legacy' => true]);
[$redis] = $locks->raw();
$now = (int) $redis->cmd('TIME')[0];
$holders = [
    'a timestamp, deleted' => [['SET', $now + 1000], 'DEL'],
    'a timestamp, ended' => [['SET', $now + 1000], 'SET', $now - 1],
    'a timestamp with a fraction, ended' => [['SET', $now + 1000 . '.25'], 'SET', $now - 1 . '.75'],
    'an old holder with a TTL, deleted' => [['SET', $now + 1000, 'EX', 1000], 'DEL'],
];
foreach ($holders as $name => [$take, $end]) {
    in_time(3, function (int $number) use ($locks, $redis, $name, $take, $end, $holders) { // until then no waiter counts as dead
        $resource = unique("$name-$number");
        $key = Locks::key($resource);
        $redis->cmd(array_shift($take), $key, ...$take);
        $line = $locks->line(3, $resource, gate());
        $redis->cmd($end, $key, ...array_slice($holders[$name], 2));
        foreach ($line as $i => $waiter) {
            // A client that only tries never passes the waiters.
            same(null, $locks->manager()->tryAcquire($resource), "$name: the next one, before waiter $i has gone");
            [, , $held] = $waiter->hear();
            same(true, $held, "$name: waiter $i");
            same(2 - $i, $locks->waiting($resource), "$name: waiting behind waiter $i");
            same(1, preg_match('/^9999999999:[0-9a-f]{44}$/D', $redis->cmd('GET', $key)), "$name: the value under waiter $i");
            $waiter->say('release');
            same(true, $waiter->result(), "$name: release() of waiter $i");
        }
        $locks->waitUntilQueuesGone($resource);
        same(0, $redis->cmd('EXISTS', $key), "$name: in the end");
    });
}

// A client that comes by acquires the lock for the first in the queue, which has waited for longer.
$resource = unique('for another');
$redis->cmd('SET', Locks::key($resource), $now + 1000);
[$waiter] = $locks->line(1, $resource);
$waiter->signal(SIGSTOP);
$redis->cmd('SET', Locks::key($resource), $now - 1);
same(null, $locks->manager()->tryAcquire($resource), 'one who only tries');
same(1, preg_match('/^9999999999:/', $redis->cmd('GET', Locks::key($resource))), 'the lock is the first waiter\'s');
within(1, $redis->cmd('PTTL', Locks::key($resource)), 3000, 'the grant in ms');
$waiter->signal(SIGCONT);
same(true, $waiter->hear()[2], 'the first waiter');
$waiter->say('release');
same(true, $waiter->result(), 'its release()');

// The first waiter asks about ten times a second, those behind it less often, and all rarely behind a holder with
// legacy: true.
$own = private_locks('DistributedLock');
$own = new Locks('DistributedLock', $own->addresses, $own->servers, options: ['legacy' => true]);
[$redis] = $own->raw();
$asks = function (string $resource, int $waiters, int $least, int $most, string $what) use ($own, $redis) {
    $line = $own->line($waiters, $resource);
    $redis->cmd('CONFIG', 'RESETSTAT');
    $count = fn () => command_counts($redis)['evalsha'] ?? 0;
    $time = seconds(function () use ($count, $least) {
        pass_time(3);
        wait_for(fn () => $count() >= $least, 60, 'questions');
    });
    within(0, $count(), $most * $time / 3, "questions in $time s: $what");
    foreach ($line as $waiter) {
        $waiter->kill();
    }
};
$redis->cmd('SET', Locks::key('old'), $now + 1000);
$asks('old', 1, 8, 40, 'of one waiter behind an old holder');
$redis->cmd('SET', Locks::key('old with a TTL'), $now + 1000, 'EX', 1000);
$asks('old with a TTL', 1, 8, 40, 'of one behind an old holder with a TTL');
$asks('old', 8, 10, 8 * 30 - 100, 'of eight');
$lease = $own->manager()->acquire('new', 0, 100);
$asks('new', 3, 1, 3 * 4, 'of three behind a holder of ours');
echo "done\n";
?>
--EXPECT--
done
