--TEST--
A waiter that a signal handler's exception interrupts leaves the queue, and hands on what it was granted
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
    $name = $locks->name;
    $interrupted = fn (string $resource) => fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use ($say, $hear) {
            $say('in the handler');
            $hear();
            throw new RuntimeException('enough');
        });
        $manager = $locks->manager();
        try {
            $manager->acquire($resource, 60, 100);
            $result = 'acquired';
        } catch (RuntimeException $e) {
            $result = $e->getMessage();
        }
        $say($result);
        $hear(); // the process lives on: its end releases nothing
    });

    // Another client holds.
    $resource = unique("$name waits");
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $child = $interrupted($resource);
    at_end($child->kill(...));
    $locks->waitUntilQueued($resource, 1);
    $child->signal(SIGUSR1);
    same('in the handler', $child->hear(), $name);
    $child->say('throw');
    same('enough', $child->hear(), $name);
    $locks->waitUntilQueuesGone($resource);
    same(true, $lease->release(), "$name: the holder");
    same(true, $locks->manager()->acquire($resource, 0)->release(), "$name: free afterwards");
    $child->kill();

    // The waiter is granted the lock in that instant: the next waiter acquires it at once, not after a grant's 3 s.
    $times = [];
    for ($round = 0; $round < 3; $round++) {
        $resource = unique("$name granted $round");
        $lease = $locks->manager()->acquire($resource, 0, 100);
        $child = $interrupted($resource);
        at_end($child->kill(...));
        $locks->waitUntilQueued($resource, 1);
        [$next] = $locks->line(1, $resource);
        $child->signal(SIGUSR1);
        same('in the handler', $child->hear(), $name);
        same(true, $lease->release(), "$name: the holder");
        $child->say('throw');
        $start = now();
        same('enough', $child->hear(), $name);
        [$at] = $next->hear();
        $times[] = $at - $start;
        $next->say('release');
        same(true, $next->result(), "$name: release() of the next");
        $locks->waitUntilQueuesGone($resource);
        $child->kill();
    }
    within(-1, min($times), SOON, "$name: seconds from the exception to the next holder");
}
echo "done\n";
?>
--EXPECT--
done
