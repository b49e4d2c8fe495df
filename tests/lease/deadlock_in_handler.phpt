--TEST--
If a signal handler acquires the lock that the interrupted code waits for, the wait ends with a DeadlockException
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';

use Dlock\DeadlockException;

/** Deletes the lock's key, or node, and its waiters, as an administrator would. */
$delete = function (string $name, ?Locks $locks, string $resource): void {
    if ($name === 'ZkLock') {
        $zk = zk_raw();
        array_map(fn (string $node) => $zk->delete("/locks/$resource/$node"), zk_nodes($zk, $resource));
    } else {
        foreach ($locks->raw() as $redis) {
            $redis->cmd('DEL', Locks::key($resource), Locks::queue($resource), Locks::waiters($resource));
        }
    }
};
/** How many clients wait for the lock on the servers, or hold it. */
$waiting = fn (string $name, ?Locks $locks, string $resource): int => $name === 'ZkLock' ? count(zk_nodes(zk_raw(), $resource)) - 1 : $locks->waiting($resource);
/**
 * Runs $wait() while another process holds the lock, and in it $handler(), once it is in line. Returns the results of
 * both, or the exception.
 */
$interrupt = function (callable $in_line, callable $handler, callable $wait): array {
    $calls = 0;
    $value = null;
    pcntl_signal(SIGUSR1, function () use ($handler, &$calls, &$value) {
        $calls++;
        $value = $handler();
    });
    $child = fork_child(function () use ($in_line) {
        wait_for($in_line, 60, 'the wait');
        posix_kill(posix_getppid(), SIGUSR1);
    });
    $e = thrown_by(function () use ($wait, &$result) {
        $result = $wait();
    });
    $child->result();
    same(1, $calls, 'calls of the handler');
    return [$e ?? $result, $value];
};

pcntl_async_signals(true);
ini_set('dlock.ttl', '60'); // no lease ends by itself
$kinds = [];
foreach (renewed_locks_and_pools() as $name => $locks) {
    $kinds[$name] = [$locks, fn (mixed ...$options) => $locks->manager(...$options)];
}
if (class_exists('ZkLock', false)) {
    $kinds['ZkLock'] = [null, fn (mixed ...$options) => new ZkLock(zk_hosts(), ...$options)];
}
foreach ($kinds as $name => [$locks, $make]) {
    [$manager, $other] = [$make(), $make()];
    $holder = function (string $resource) use ($make): ForkedChild { // a process that holds until it is told to release
        $child = fork_child(function (callable $say, callable $hear) use ($make, $resource) {
            $lease = $make()->acquire($resource, 30);
            $say(null);
            $hear();
            return $lease->release();
        });
        $child->hear();
        return $child;
    };
    // Each limit is longer than the test waits for the exception.
    $waits = [
        'acquire()' => fn (string $resource) => $manager->acquire($resource, 30),
        'tryAcquire()' => fn (string $resource) => $manager->tryAcquire($resource, 30),
        'synchronized()' => fn (string $resource) => $manager->synchronized($resource, fn () => print("entered\n"), 30),
    ];
    if (!$locks || $locks->hasLock()) { // RedLock::lock() makes a number of attempts
        $waits['lock()'] = fn (string $resource) => $manager->lock($resource, 30);
        $waits['lock() without limit'] = fn (string $resource) => $manager->lock($resource);
    }
    foreach ($waits as $what => $wait) {
        foreach (['the same object' => $manager, 'another object' => $other] as $which => $taker) {
            $case = "$name, $what, taken by $which";
            $resource = unique(str_replace([' ', ',', '(', ')'], '-', $case));
            $child = $holder($resource);
            $start = now();
            [$e, $lease] = $interrupt(fn () => $waiting($name, $locks, $resource) > 0, function () use ($delete, $name, $locks, $resource, $taker) {
                $delete($name, $locks, $resource); // now it is free, and no client is in line
                return $taker->tryAcquire($resource, 0);
            }, fn () => $wait($resource));
            within(0, now() - $start, SOON, "$case: seconds");
            same(true, $lease?->isHeld(), "$case: the handler's lease");
            same([DeadlockException::class, $locks?->deadlock($resource) ?? "This process holds the lock \"$resource\" already, and would wait for itself"],
                $e instanceof Throwable ? [$e::class, $e->getMessage()] : $e, $case);
            // The interrupted wait has left the line: the handler's lease is the only one.
            $locks?->waitUntilQueuesGone($resource);
            $name !== 'ZkLock' || wait_for_nodes(zk_raw(), 1, $resource);
            $child->say(null);
            $child->result();
            same(true, $lease?->release(), "$case: the handler's release()");
            same(true, $manager->acquire($resource, 30)->release(), "$case: afterwards");
        }
    }

    // The handler attaches a lease.
    if ($name !== 'ZkLock') {
        $resource = unique("$name-attach");
        $handle = $manager->acquire($resource, 30)->detach();
        [$e, $lease] = $interrupt(fn () => $waiting($name, $locks, $resource) > 0, fn () => $other->attach($handle), fn () => $manager->acquire($resource, 30));
        same(DeadlockException::class, get_debug_type($e), "$name: attach()");
        same(true, $lease->release(), "$name: attach(): release()");
    }

    // A lease that ends by itself or has ended, and another lock, are no deadlock.
    $resource = unique("$name-no-deadlock");
    $takes = [
        'released' => fn () => $other->tryAcquire($resource, 0)?->release(),
        'another' => fn () => $other->acquire("$resource-other", 30)->isHeld(),
    ];
    if ($name !== 'ZkLock') {
        $takes['a ttl'] = function () use ($other, $resource, $locks) {
            $lease = $other->tryAcquire($resource, 0, 100);
            foreach ($locks->raw() as $redis) { // so it ends soon
                $locks->setHolder($redis, $resource, $lease->token, 500);
            }
            return $lease->isHeld();
        };
    }
    foreach ($takes as $what => $take) {
        $child = $holder($resource);
        [$lease, $taken] = $interrupt(fn () => $waiting($name, $locks, $resource) > 0, function () use ($delete, $name, $locks, $resource, $take) {
            $delete($name, $locks, $resource);
            return $take();
        }, fn () => $manager->acquire($resource, 30));
        same([true, true], [$taken, $lease instanceof Dlock\Lease && $lease->release()], "$name: $what");
        $child->say(null);
        $child->result();
    }

    // After a handler that does nothing, the wait continues in its place.
    $child = $holder($resource);
    [$lease] = $interrupt(fn () => $waiting($name, $locks, $resource) > 0, fn () => $child->say(null), fn () => $manager->acquire($resource, 30));
    same([true, true], [$lease instanceof Dlock\Lease && $lease->release(), $child->result()], "$name: no lock in the handler");
}
echo "done\n";
?>
--EXPECT--
done
