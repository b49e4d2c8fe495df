--TEST--
A waiter that is stopped does not believe in a grant that ran out meanwhile, and takes up one that did not
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
    $kind = $locks->name;

    // For longer than a grant lasts: the next one gets the lock, and is alone with it.
    $resource = unique("$kind long");
    $lease = $locks->manager()->acquire($resource, 0, 1000);
    [$stopped, $next] = $locks->line(2, $resource, $gate = gate());
    $stopped->signal(SIGSTOP);
    $lease->release();
    [, $second] = $next->hear();
    $stopped->signal(SIGCONT);
    // It asks again, and is refused: it is in the queue.
    $locks->waitUntilQueued($resource, 1);
    same(true, is_file($gate), "$kind: the next one is in the section");
    pause(0.2); // for one that believes, to enter
    $next->say('release');
    same(true, $next->result(), "$kind: release() of the next one");
    [, $first, $held] = $stopped->hear(); // or it has found two in the section
    same(true, $held, "$kind: in the end it holds");
    holds($first > $second, "$kind: fencing tokens in order of holding", $first, $second);
    $stopped->say('release');
    same(true, $stopped->result(), "$kind: release() of the one that was stopped");

    // For a second: it is granted the lock, and still there in time.
    $resource = unique("$kind short");
    $lease = $locks->manager()->acquire($resource, 0, 1000);
    $waiter = fork_child(function (callable $say) use ($locks, $resource, $kind) {
        $lease = $locks->manager()->acquire($resource, 60, 30);
        $quorum = intdiv(count($locks->addresses), 2) + 1;
        $least = INF;
        $believed = [];
        $deadline = now() + 10;
        do {
            $looked = now();
            $remaining = $lease->remaining(); // before, since the renewal thread may ask for more at any time
            $pttls = array_map(fn (RedisRaw $redis) => $redis->cmd('PTTL', Locks::key($resource)), $locks->raw());
            rsort($pttls);
            $pttl = $pttls[$quorum - 1] / 1000;
            $believed[] = [$remaining, $pttl];
            $least = min($least, $pttl + now() - $looked - $remaining);
        } while ($remaining <= 5 && now() < $deadline);
        return [$lease->isHeld(), $least, $remaining, $believed[0], $lease->release()];
    });
    at_end($waiter->kill(...));
    $locks->waitUntilQueued($resource, 1);
    $waiter->signal(SIGSTOP);
    $lease->release();
    pause(1.0);
    $waiter->signal(SIGCONT);
    [$held, $least, $remaining, $first, $released] = $waiter->result();
    same([true, true], [$held, $released], "$kind: stopped for a second: it holds");
    holds($least >= 0, "$kind: what it believes to remain is no more than the server's", $least, $first);
    within(5, $remaining, 30, "$kind: the full lease in the end");
}
echo "done\n";
?>
--EXPECT--
done
