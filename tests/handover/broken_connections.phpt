--TEST--
A waiter survives that its connections are closed, and that the server forgets the scripts
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

$locks = private_locks('DistributedLock', 1, ['client-output-buffer-limit pubsub 1 1 1']);
$red = private_locks('RedLock', 3, ['client-output-buffer-limit pubsub 1 1 1']);
$breaks = [
    'the inbox' => [['CLIENT', 'KILL', 'TYPE', 'pubsub']],
    'the main connections' => [['CLIENT', 'KILL', 'TYPE', 'normal']],
    'both' => [['CLIENT', 'KILL', 'TYPE', 'pubsub'], ['CLIENT', 'KILL', 'TYPE', 'normal']],
    'the scripts' => [['SCRIPT', 'FLUSH']],
];
foreach ([$locks, $red] as $locks) {
    foreach ($breaks as $what => $commands) {
        $name = "$locks->name, $what";
        $resource = unique($name);
        $manager = $locks->manager();
        $lease = $manager->acquire($resource, 0, 100);
        $waiter = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
            $lease = $locks->manager()->acquire($resource, 60, 50);
            $at = now();
            $first = [$lease->isHeld(), $lease->remaining()];
            $hear();
            $later = [$lease->isHeld(), $lease->remaining()];
            return [$at, $first, $later, $lease->release()];
        });
        at_end($waiter->kill(...));
        $locks->waitUntilQueued($resource, 1);
        pause(0.02); // it has nothing to do any more
        foreach ($commands as $command) {
            foreach ($locks->raw() as $redis) {
                $redis->cmd(...$command);
            }
        }
        if ($what === 'the inbox' || $what === 'both') {
            wait_for(fn () => count(array_filter($locks->raw(), fn (RedisRaw $redis) => $redis->cmd('PUBSUB', 'CHANNELS', 'dlock:inbox:*') !== []))
                > count($locks->raw()) / 2, 20, "$name: new inboxes");
            $locks->waitUntilQueued($resource, 1);
        }
        $start = now();
        same(true, $lease->release(), "$name: the holder");
        pause(2.0); // whatever is under way comes to an end, and the renewal thread has asked for the full lease time
        $waiter->say('go on');
        [$at, [$held, $remaining], [$heldLater, $remainingLater], $released] = $waiter->result();
        same(true, $held, "$name: the waiter holds what it was given");
        within(0.5, $remaining, 50, "$name: remaining at first");
        same(true, $heldLater, "$name: it holds a little later");
        within(40, $remainingLater, 50, "$name: remaining a little later");
        same(true, $released, "$name: release()");
        // No grant was lost: that would cost 3 s. It had to look by itself at most.
        within(0, $at - $start, SOON, "$name: seconds from the release to the next holder");
        $locks->waitUntilQueuesGone($resource);
    }
}
echo "done\n";
?>
--EXPECT--
done
