--TEST--
A signal handler runs at once during a wait for a lock, and the wait continues with the time that remains
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

final class Stop extends Exception
{
}

$managers = [
    'DistributedLock' => [fn () => new DistributedLock(redis_server()), fn ($m, $r, $t) => $m->lock($r, $t)],
    'a Lease' => [fn () => new DistributedLock(redis_server()), fn ($m, $r, $t) => (bool) $m->tryAcquire($r, $t)?->release()],
    'Semaphore' => [fn () => new OnePermit(new Dlock\Semaphore(1, redis_server())), fn ($m, $r, $t) => (bool) $m->tryAcquire($r, $t)?->release()],
    'ReadWriteLock' => [fn () => (new Dlock\ReadWriteLock(redis_server()))->writeLock(), fn ($m, $r, $t) => (bool) $m->tryAcquire($r, $t)?->release()],
    'RedLock' => [fn () => new RedLock(redis_servers(3), 60_000, 5), fn ($m, $r, $t) => (bool) $m->tryAcquire($r, $t)?->release()],
    'RedLock::lock()' => [fn () => new RedLock(redis_servers(3), 60_000, 1_000), fn ($m, $r, $t) => $m->unlock($m->lock($r))],
];
foreach ($managers as $name => [$make, $wait]) {
    $resource = unique($name);
    $lease = $make()->acquire($resource, 0, 1000);

    // The handler reports during the wait: the parent hears it before it releases.
    if ($name !== 'RedLock' && $name !== 'RedLock::lock()') { // their pauses are long here, so that only a timely release ends them
        $child = fork_child(function (callable $say) use ($make, $wait, $resource) {
            pcntl_async_signals(true);
            $count = 0;
            pcntl_signal(SIGUSR1, function () use ($say, &$count) {
                $say(++$count);
            });
            $manager = $make();
            $manager->isLocked($resource);
            $say('waits');
            return [$wait($manager, $resource, 60), $count];
        });
        same('waits', $child->hear(), $name);
        for ($i = 1; $i <= 5; $i++) {
            $child->signal(SIGUSR1);
            same($i, $child->hear(), "$name: signal $i");
        }
        $lease->release();
        same([true, 5], $child->result(), "$name: after five signals");
        $lease = $make()->acquire($resource, 60, 1000);
    }

    // The time limit stays the same, however many signals come. They come until the wait ends.
    if ($name !== 'RedLock::lock()') {
        $child = fork_child(function (callable $say) use ($make, $wait, $resource) {
            pcntl_async_signals(true);
            $count = 0;
            pcntl_signal(SIGUSR1, function () use (&$count) {
                $count++;
            });
            $manager = $make();
            $manager->isLocked($resource);
            $say('waits');
            wait_for(function () use (&$count) {
                return $count > 0;
            }, 60, 'a signal');
            $start = now();
            $got = $wait($manager, $resource, 0.5);
            return [$got, now() - $start, $count];
        });
        same('waits', $child->hear(), $name);
        $signals = fork_child(function () use ($child) {
            for ($i = 0; $i < 60_000 && posix_kill($child->pid, SIGUSR1); $i++) {
                pause(0.001);
            }
        });
        [$got, $time, $count] = $child->result();
        $signals->kill();
        same(false, $got, "$name: the wait");
        within(0.5, $time, SOON, "$name: its time, with $count signals");
    }

    // A handler that throws ends the wait at once, and nothing stays behind.
    $child = fork_child(function (callable $say) use ($make, $wait, $resource) {
        pcntl_async_signals(true);
        pcntl_signal(SIGUSR1, fn () => throw new Stop('now'));
        $manager = $make();
        $manager->isLocked($resource);
        $say('waits');
        try {
            $wait($manager, $resource, 60);
        } catch (Stop $e) {
            $say('stopped: ' . $e->getMessage());
            // The process can wait again, in vain, and acquire another lock.
            $again = $manager->tryAcquire($resource, 0.01);
            return [$again, $manager->tryAcquire("$resource-other")?->release(), $manager->isLocked($resource)];
        }
    });
    same('waits', $child->hear(), $name);
    $stop = now();
    pause(0.02);
    $child->signal(SIGUSR1);
    same('stopped: now', $child->hear(), "$name: a handler that throws");
    within(0, now() - $stop, SOON, "$name: the time to stop");
    same([null, true, true], $child->result(), "$name: after a handler that throws");

    // A handler ends the script.
    $child = fork_child(function (callable $say) use ($make, $wait, $resource) {
        pcntl_async_signals(true);
        pcntl_signal(SIGTERM, fn () => exit(7));
        $manager = $make();
        $manager->isLocked($resource);
        $say('waits');
        $wait($manager, $resource, 60);
    });
    same('waits', $child->hear(), $name);
    pause(0.02);
    $child->signal(SIGTERM);
    same(7, pcntl_wexitstatus($child->wait()), "$name: the exit code of a handler that ends the script");

    same(true, $lease->isHeld() && $lease->release(), "$name: the holder");
    same(false, $make()->isLocked($resource), "$name: locked in the end");
}
echo "done\n";
?>
--EXPECT--
done
