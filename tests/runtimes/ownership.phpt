--TEST--
Runtimes: lock() acquires for its strand; a Lease belongs to the strand that has it; a strand does not wait for itself, but for another
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

// ---- without a waiter all strands are one owner ----
$lock = new DistributedLock(redis_server());
$resource = unique('one');
(new Fiber(fn () => same(true, $lock->lock($resource, 0), 'lock() in a fiber')))->start();
same(true, $lock->isLocking($resource), 'isLocking() in {main}, without a waiter');
fails(Dlock\DeadlockException::class, '*', fn () => $lock->lock($resource, 1), 'a wait for what a fiber holds, without a waiter');
same(true, $lock->release($resource), 'release() in {main}, without a waiter');

Strands::install();

/** Runs each task in a strand of its own, until all have ended. */
function strands(Closure ...$tasks): void
{
    array_walk($tasks, Strands::spawn(...));
    Strands::run();
}

$named = ['DistributedLock' => [new DistributedLock(redis_server()), new DistributedLock(redis_server())],
    'memory' => [new DistributedLock('memory://owners'), new DistributedLock('memory://owners')]];
if (class_exists('ZkLock', false)) {
    $named['ZkLock'] = [new ZkLock(zk_hosts()), new ZkLock(zk_hosts())];
}
foreach ($named as $name => [$lock, $same]) {
    // Calls by name.
    $resource = unique($name);
    $now = (object) ['has' => false, 'was' => false];
    strands(function () use ($lock, $resource, $name, $now) {
        same(true, $lock->lock($resource, 0), "$name: lock()");
        $now->has = true;
        Strands::until(fn () => $now->was);
        method_exists($lock, 'isLocking') && same(true, $lock->isLocking($resource), "$name: isLocking() of whoever has it");
        same([$resource], array_keys(held_by($lock)), "$name: var_dump() of whoever has it");
        same(true, $lock->release($resource), "$name: release() of whoever has it");
    }, function () use ($lock, $resource, $name, $now) {
        Strands::until(fn () => $now->has);
        method_exists($lock, 'isLocking') && same(false, $lock->isLocking($resource), "$name: isLocking() of another strand");
        same([], held_by($lock), "$name: var_dump() of another strand");
        same(false, $lock->release($resource), "$name: release() of another strand");
        method_exists($lock, 'expire') && same(false, $lock->expire($resource, 5), "$name: expire() of another strand");
        same(true, !method_exists($lock, 'unlockAll') || $lock->unlockAll(), "$name: unlockAll() of another strand: it has none");
        $now->was = true;
        same(true, $lock->lock($resource, 60), "$name: lock() of another strand waits");
        same(true, $lock->release($resource), "$name: and releases");
    });

    // The strand ends.
    $lease = null;
    strands(function () use ($lock, $resource, $name, &$lease) {
        $lock->lock($resource, 0);
        $lease = $lock->acquire("$resource-lease", 0);
    }, function () use ($lock, $resource, $name) {
        same(true, $lock->lock($resource, 60), "$name: what a strand has by name is given back when it ends");
    });
    same([Dlock\LeaseState::Held, true], [$lease->state(), $lease->release()], "$name: its Lease lives on, and {main} releases it");
    same(false, $lock->isLocked($resource), "$name: the other has ended, too");

    // Deadlocks.
    strands(function () use ($lock, $same, $resource, $name) {
        $lease = $lock->acquire($resource, 0);
        fails(Dlock\DeadlockException::class, '*would wait for itself', fn () => $same->acquire($resource, 60), "$name: a strand that waits for itself");
        $lease->release();
    });
    [$begun, $ends] = [new ArrayObject(), new ArrayObject()];
    $cross = fn (string $first, string $second) => function () use ($lock, $resource, $first, $second, $begun, $ends) {
        $begun[] = $lease = $lock->acquire("$resource-$first", 0);
        Strands::until(fn () => count($begun) === 2);
        $ends[] = thrown_by(fn () => $lock->acquire("$resource-$second", 0.3));
        Strands::until(fn () => count($ends) === 2);
        $lease->release();
    };
    strands($cross('a', 'b'), $cross('b', 'a'));
    same([Dlock\AcquireTimeoutException::class, Dlock\AcquireTimeoutException::class], array_map(get_debug_type(...), $ends->getArrayCopy()), "$name: two that wait for each other end by their time limits");

    // If the waiter cannot wait, the whole thread waits: so it would for another strand's lock, too.
    $now = (object) ['has' => false, 'over' => false];
    strands(function () use ($lock, $resource, $now) {
        $lease = $lock->acquire($resource, 0);
        $now->has = true;
        Strands::until(fn () => $now->over);
        $lease->release();
    }, function () use ($lock, $resource, $name, $now) {
        Strands::until(fn () => $now->has);
        Strands::$before = fn () => false;
        fails(Dlock\DeadlockException::class, '*would wait for itself', fn () => $lock->acquire($resource, 60), "$name: a waiter that says false");
        Strands::$before = null;
        $now->over = true;
    });
}

/** @return array<string, float> what var_dump() shows of the locks that lock() acquired in this strand */
function held_by(Dlock\LockManager $lock): array
{
    ob_start();
    var_dump($lock);
    preg_match_all('/\["([^"]+)"\]=>\s+float\([\d.]+\)/', strstr(ob_get_clean(), '["held"]'), $found);
    return array_flip($found[1]);
}

// ---- permits ----
$semaphore = new Dlock\Semaphore(3, redis_server());
$pool = unique('pool');
strands(function () use ($semaphore, $pool) {
    $two = $semaphore->acquire($pool, 2, 0);
    fails(Dlock\DeadlockException::class, '*too many permits*', fn () => $semaphore->acquire($pool, 2, 60), 'two and two of three permits');
    Strands::pause(0.05);
    $two->release();
}, function () use ($semaphore, $pool) {
    same(true, $semaphore->acquire($pool, 2, 60)->release(), 'another strand waits for its two');
});

// ---- losses are thrown where the lease was acquired ----
foreach (['DistributedLock' => shared_locks()[0], 'Semaphore' => shared_pools()[0]] as $name => $locks) {
    $manager = $locks->manager(ttl: 0.5, onLoss: 'throw');
    foreach (['while it waits' => true, 'when it runs next' => false] as $how => $waits) {
        $resource = unique("$name-$how");
        $now = (object) ['thrown' => false, 'goesOn' => false];
        $other = $locks->manager()->acquire("$resource-other", 0, 100);
        strands(function () use ($locks, $manager, $resource, $waits, $now) {
            try {
                $lease = $manager->acquire($resource, 30);
                $locks->steal($locks->raw()[0], $resource);
                $waits ? $locks->manager()->acquire("$resource-other", 30) : Strands::until(fn () => false, 30);
            } catch (Dlock\LeaseLostException $e) {
                $now->thrown = $e->getMessage();
            }
        }, function () use ($now) {
            Strands::until(fn () => $now->thrown !== false, 20);
            $now->goesOn = true;
        });
        same(["The lock \"$resource\" was lost while it was held", true], [$now->thrown, $now->goesOn], "$name: a loss is thrown $how, and nowhere else");
        $other->release();
        $locks->waitUntilQueuesGone("$resource-other");
    }
    // The lease of a strand that has ended.
    $lease = null;
    strands(function () use ($manager, $name, &$lease) {
        $lease = $manager->acquire(unique($name), 30);
    });
    $locks->steal($locks->raw()[0], $lease->resource);
    for ($until = now() + 20; $lease->isHeld() && now() < $until; pause(0.01));
    same(false, $lease->isHeld(), "$name: a strand that is over: the lease only knows it");
}
echo "done\n";
?>
--EXPECT--
done
