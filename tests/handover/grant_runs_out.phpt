--TEST--
A waiter does not believe in a grant that expired while a signal handler ran
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

[$locks] = [...shared_locks(), ...shared_pools()];
for ($round = 0; $round < 2; $round++) {
    $resource = unique("$round");
    $gate = gate();
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $waiter = fork_child(function (callable $say, callable $hear) use ($locks, $resource, $gate) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use ($say, $hear) {
            $say('in the handler');
            $hear(); // for longer than a grant lasts
        });
        $lease = $locks->manager()->acquire($resource, 60, 100);
        enter($gate);
        $say(['holds', $lease->fencingToken]);
        leave($gate);
        return $lease->release();
    });
    at_end($waiter->kill(...));
    $locks->waitUntilQueued($resource, 1);
    $waiter->signal(SIGUSR1);
    same('in the handler', $waiter->hear(), "round $round");
    // The waiter is granted the lock, but does not hear of it. When the grant has expired, another client holds.
    same(true, $lease->release(), 'the holder');
    $other = $locks->manager()->acquire($resource, 20, 100);
    enter($gate);
    $waiter->say('go on');
    $locks->waitUntilQueued($resource, 1);
    pause(0.2); // time for a waiter that believes to enter
    same(true, $other->isHeld(), 'the other one');
    leave($gate);
    same(true, $other->release(), 'release() of the other one');
    same('holds', $waiter->hear()[0], 'in the end'); // otherwise it has found two processes in the section
    same(true, $waiter->result(), 'release() of the waiter');
}
echo "done\n";
?>
--EXPECT--
done
