--TEST--
Children that end do not close their parent's inbox, lose its place in the queue, or release its locks
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
    $resource = unique($name);
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $keeper = keep_alive($locks->addresses, Locks::key($resource));
    // A process forks while it waits, and again while it holds. The children use the same manager, then end in all
    // ways.
    $waiter = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
        $manager = $locks->manager();
        $forks = function (?Dlock\Lease $held) use ($manager, $resource) {
            foreach (['exit', 'kill', 'wait'] as $way) {
                $child = fork_child(function () use ($manager, $resource, $held, $way) {
                    return [$held?->release(), $way === 'wait' ? $manager->tryAcquire("$resource other")?->release() : null,
                        $way === 'wait' ? $manager->tryAcquire($resource, 0.05) : null];
                }, [], $way === 'kill' ? 'kill' : 'exit');
                $results[] = $child->result();
                $child->wait();
            }
            return $results;
        };
        $inHandler = null;
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, function () use (&$inHandler, $forks, $say) {
            $inHandler = $forks(null);
            $say('forked');
        });
        $lease = $manager->acquire($resource, 60, 100);
        $at = now();
        $whileHeld = $forks($lease);
        $say([$at, $inHandler, $whileHeld, $lease->isHeld()]);
        $hear();
        return $lease->release();
    });
    at_end($waiter->kill(...));
    $locks->waitUntilQueued($resource, 1);
    $waiter->signal(SIGUSR1);
    same('forked', $waiter->hear(), $name);
    $locks->waitUntilQueued($resource, 1);
    [$next] = $locks->line(1, $resource, gate());
    $start = now();
    same(true, $lease->release(), "$name: the holder");
    [$at, $inHandler, $whileHeld, $held] = $waiter->hear();
    within(-1, $at - $start, SOON, "$name: seconds from the release to the waiter");
    same([[null, null, null], [null, null, null], [null, true, null]], $inHandler, "$name: children of the waiter");
    same([[false, null, null], [false, null, null], [false, true, null]], $whileHeld, "$name: children of the holder");
    same(true, $held, "$name: it holds in spite of its children");
    $waiter->say('release');
    same(true, $waiter->result(), "$name: release()");
    [$at] = $next->hear();
    $next->say('release');
    same(true, $next->result(), "$name: release() of the next");
    $keeper->kill();
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
