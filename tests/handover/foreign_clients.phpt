--TEST--
Clients that do not know the queue neither break nor starve it, and the queue does not break their locks
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

const COMPARE_AND_DELETE = 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';
[$locks] = shared_locks();
[$redis] = $locks->raw();
// How the foreign holder's lock ends. The waiters get no message: they look again after 2.3 s at most, long before the
// lease would end.
$ends = [
    'compare-and-delete' => [100_000, fn (string $key) => $redis->cmd('EVAL', COMPARE_AND_DELETE, 1, $key, 'foreign')],
    'DEL' => [100_000, fn (string $key) => $redis->cmd('DEL', $key)],
];
/**
 * Three waiters wait behind a foreign holder; or one waiter, which may come after the end. Returns the seconds from its
 * SET, and from $end(key), to the first waiter's acquisition.
 */
$follow = function (string $name, int $ttl, callable $end, bool $queued = true) use ($locks, $redis): array {
    $resource = unique($name);
    $set = now();
    same('OK', $redis->cmd('SET', Locks::key($resource), 'foreign', 'NX', 'PX', $ttl), "$name: SET");
    $keeper = $queued ? keep_alive($locks->addresses, Locks::key($resource)) : null;
    $line = $queued ? $locks->line(3, $resource, gate()) : [$locks->waiter($resource, gate())];
    $before = now();
    $end(Locks::key($resource));
    $times = [];
    foreach ($line as $i => $waiter) {
        [$times[]] = $waiter->hear(60);
        // Foreign clients respect a lock of dlock.
        same(null, $redis->cmd('SET', Locks::key($resource), 'foreign', 'NX', 'PX', 1000), "$name: SET while waiter $i holds");
        same(0, $redis->cmd('EVAL', COMPARE_AND_DELETE, 1, Locks::key($resource), 'foreign'), "$name: deletion while waiter $i holds");
        $waiter->say('release');
        same(true, $waiter->result(), "$name: release() of waiter $i");
    }
    $keeper?->kill();
    within(0, end($times) - $times[0], SOON, "$name: seconds until the last one holds");
    $locks->waitUntilQueuesGone($resource);
    return [$times[0] - $set, $times[0] - $before];
};
foreach ($ends as $name => [$ttl, $end]) {
    [, $seconds] = $follow($name, $ttl, function (string $key) use ($redis, $end, $name) {
        same('foreign', $redis->cmd('GET', $key), "$name: still locked");
        same(1, $end($key), "$name: the end");
    });
    within(0, $seconds, SOON, "$name: seconds until the first waiter holds");
}
// Waiters know when the key expires. Otherwise they would look 0.6 s later at the earliest.
$seconds = [];
for ($round = 0; $round < 3; $round++) {
    [$since] = $follow("expiry-$round", 1000, fn () => null, queued: false);
    $seconds[] = $since - 1;
}
holds(min($seconds) >= 0, 'nobody holds before the expiry', $seconds);
within(0, min($seconds), SOON, 'seconds from the expiry to the first waiter');

// Contention: foreign clients try all the time, while processes queue.
$resource = unique('contention');
$gate = gate();
$foreign = [];
for ($i = 0; $i < 2; $i++) {
    $foreign[] = $child = fork_child(function (callable $say, callable $hear) use ($locks, $resource, $gate, $i) {
        [$redis] = $locks->raw();
        $sections = 0;
        while (!is_file("$gate.end")) {
            if ($redis->cmd('SET', Locks::key($resource), "foreign $i", 'NX', 'PX', 10_000) === 'OK') {
                enter($gate);
                pause(0.0005);
                leave($gate);
                $sections++;
                $redis->cmd('EVAL', COMPARE_AND_DELETE, 1, Locks::key($resource), "foreign $i") === 1 || throw new RuntimeException('it was taken away');
            }
            pause(0.001);
        }
        return $sections;
    });
    at_end($child->kill(...));
}
try {
    $waits = fork_run(5, function () use ($locks, $resource, $gate) {
        $manager = $locks->manager();
        $longest = 0;
        for ($i = 0; $i < 20; $i++) {
            $start = now();
            $lease = $manager->acquire($resource, 60, 30);
            $longest = max($longest, now() - $start);
            enter($gate);
            pause(0.0005);
            leave($gate);
            $lease->release() || throw new RuntimeException('the lock was lost');
        }
        return $longest;
    }, 'exit', 110);
} finally {
    touch("$gate.end");
}
same(5, count($waits), 'processes that had all their sections');
foreach ($foreign as $i => $child) {
    holds($child->result() > 0, "foreign client $i had a section");
}
$locks->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
