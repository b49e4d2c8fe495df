--TEST--
A waiter that gives up in the moment of the release neither loses a grant nor leaves anything behind
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--INI--
; Of servers that have just been started all have to say yes, and what a waiter that gave up sends to the last one is not waited for.
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

foreach ([...shared_locks(), ...shared_pools()] as $locks) {
    $kind = $locks->name;
    $rounds = $kind === 'DistributedLock' ? 500 : 150;
    $resource = unique($kind);
    $gate = gate();
    // One has time until about the release, and one behind it has time enough.
    $short = fork_child(function (callable $say, callable $hear) use ($locks, $resource, $gate) {
        $manager = $locks->manager();
        while (($timeout = $hear()) !== null) {
            $lease = $manager->tryAcquire($resource, $timeout, 30);
            if ($lease) {
                enter($gate);
                leave($gate);
                $say($lease->release());
            } else {
                $say(null);
            }
        }
    });
    $long = fork_child(function (callable $say, callable $hear) use ($locks, $resource, $gate) {
        $manager = $locks->manager();
        while ($hear() !== null) {
            $lease = $manager->acquire($resource, 30, 30);
            enter($gate);
            leave($gate);
            $say($lease->release());
        }
    });
    at_end($short->kill(...));
    at_end($long->kill(...));
    $manager = $locks->manager();
    $timeout = 0.005;
    $got = 0;
    $longest = 0;
    for ($round = 0; $round < $rounds; $round++) {
        $lease = $manager->acquire($resource, 0, 30); // free at once: the round before left nothing
        $withLong = $round % 2 === 1;
        $short->say($timeout);
        if ($withLong) {
            $long->say('go');
        }
        pause(0.005);
        $start = now();
        $lease->release() || throw new RuntimeException('the holder has lost it');
        $outcome = $short->hear();
        if ($withLong) {
            same(true, $long->hear(), "$kind: the one with time enough");
        }
        // A grant that was lost would keep the others out for 3 s.
        $time = now() - $start;
        $longest = max($longest, $time);
        // Timeouts close to where both outcomes are as likely.
        $got += $outcome !== null;
        $outcome === false && throw new RuntimeException('the waiter was granted a lock that it did not have');
        $timeout = max(0.0001, $timeout + ($outcome === null ? 0.0001 : -0.0001));
    }
    within(0, $longest, SOON, "$kind: seconds from a release until all are done");
    within($rounds / 10, $got, $rounds * 9 / 10, "$kind: rounds of $rounds in which the waiter got it");
    $short->say(null);
    $long->say(null);
    $locks->waitUntilQueuesGone($resource);
    same(false, $manager->isLocked($resource), "$kind: in the end");
}
echo "done\n";
?>
--EXPECT--
done
