--TEST--
A process that waits for a lock that it holds and renews itself gets a DeadlockException at once; every other wait waits
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;

/** The result of a wait: the class of the exception, or the result. */
$try = function (callable $do): mixed {
    $e = thrown_by(function () use ($do, &$result) {
        $result = $do();
    });
    return $e ? $e::class : (is_object($result) ? $result::class : $result);
};

ini_set('dlock.ttl', '60'); // no lease ends by itself
$kinds = [];
foreach (renewed_locks_and_pools() as $name => $locks) {
    $kinds[$name] = [fn (mixed ...$options) => $locks->manager(...$options), $locks->deadlock(...)];
}
if (class_exists('ZkLock', false)) {
    $kinds['ZkLock'] = [fn (mixed ...$options) => new ZkLock(zk_hosts(), ...$options), $kinds['DistributedLock'][1]];
}
foreach ($kinds as $name => [$make, $message]) {
    [$manager, $other] = [$make(), $make()];
    $resource = unique($name);
    $waits = [
        'acquire()' => fn ($m, ?float $timeout) => $m->acquire($resource, $timeout),
        'tryAcquire()' => fn ($m, ?float $timeout) => $m->tryAcquire($resource, $timeout ?? 1e6),
        'synchronized()' => fn ($m, ?float $timeout) => $m->synchronized($resource, fn () => print("entered\n"), $timeout),
    ];
    if ($name === 'DistributedLock' || $name === 'ZkLock') { // RedLock::lock() makes a number of attempts
        $waits['lock()'] = fn ($m, ?float $timeout) => $m->lock($resource, $timeout);
    }
    $waits_with_ttl = $name === 'ZkLock' ? [] : ['acquire() with a ttl' => fn ($m, ?float $timeout) => $m->acquire($resource, $timeout, 60)];
    $holds = ['a lease' => fn () => $manager->acquire($resource, 0)];
    if ($name === 'DistributedLock' || $name === 'ZkLock') {
        $holds['lock()'] = fn () => $manager->lock($resource, 0);
    }
    if ($name !== 'ZkLock') {
        $holds['renew: true'] = fn () => $make(renew: true)->acquire($resource, 0, 60);
        $holds['attach()'] = fn () => $manager->attach($manager->acquire($resource, 0)->detach());
    }
    foreach ($holds as $held => $take) {
        $holder = $take();
        foreach ($waits + $waits_with_ttl as $what => $wait) {
            foreach (['the same object' => $manager, 'another object' => $other] as $which => $m) {
                foreach ([null, 30, 0.001] as $timeout) {
                    $start = now();
                    fails(DeadlockException::class, $message($resource), fn () => $wait($m, $timeout), "$name, $held: $what, $which");
                    within(0, now() - $start, SOON, "$name, $held: $what: seconds");
                }
                $nothing = $what === 'tryAcquire()' ? null : ($what === 'lock()' ? false : AcquireTimeoutException::class);
                same($nothing, $try(fn () => $wait($m, 0)), "$name, $held: $what without a wait, $which");
            }
        }
        // These waits left nothing in a queue or as a node: another process is the first to acquire.
        $next = fork_child(fn (callable $say) => $say(null) ?? $make()->acquire($resource, 30)->release());
        $next->hear();
        // A child waits for its parent as for any other process.
        same([AcquireTimeoutException::class, null], fork_child(fn () => [$try(fn () => $make()->acquire($resource, 0.05)),
            $try(fn () => $manager->tryAcquire($resource, 0.05))])->result(), "$name, $held: the parent's lock");
        if ($holder === true) {
            same(true, $manager->release($resource), "$name: release()");
        } else {
            same(true, $holder->release(), "$name: release()");
        }
        same(true, $next->result(), "$name, $held: the next");
        same(true, $manager->acquire($resource, 30)->release(), "$name, $held: after the release");
    }

    // Inside its own critical section.
    $e = thrown_by(fn () => $manager->synchronized($resource, fn () => $other->synchronized($resource, fn () => print("entered\n"))));
    same([DeadlockException::class, $message($resource)], [get_debug_type($e), $e?->getMessage()], "$name: synchronized() in synchronized()");
    same(true, $manager->acquire($resource, 30)->release(), "$name: after the sections");

    // Another lock: another resource or prefix.
    $holder = $manager->acquire($resource, 0);
    same(true, $manager->acquire("$resource-other", 60)->release(), "$name: another resource");
    if ($name !== 'ZkLock') {
        same(true, $make(prefix: 'other:')->acquire($resource, 60)->release(), "$name: another prefix");
        $longer = $make(prefix: 'Lock:' . substr($resource, 0, 5));
        fails(DeadlockException::class, '*', fn () => $longer->acquire(substr($resource, 5), 5), "$name: the same key by another prefix");
    } else {
        same(true, $make(root: '/locks/other')->acquire($resource, 30)->release(), "$name: another root");
    }
    same(true, $holder->release(), "$name: the holder");

    // A lease that ends by itself is waited for.
    if ($name !== 'ZkLock') {
        $ends = [
            'a ttl' => fn () => $manager->acquire($resource, 30, 0.5),
            'renew: false' => fn () => $make(renew: false, ttl: 0.5)->acquire($resource, 30),
            'max_hold' => function () use ($make, $resource) {
                ini_set('dlock.max_hold', '0.3');
                $lease = $make(ttl: 0.5)->acquire($resource, 30);
                ini_set('dlock.max_hold', '0');
                return $lease;
            },
            'attach() of one with a ttl' => fn () => patiently(fn () => $manager->attach($manager->acquire($resource, 30, 1)->detach()), Dlock\LeaseLostException::class),
            'detach()' => fn () => $make(ttl: 0.5)->acquire($resource, 30)->detach(),
        ];
        if ($name === 'DistributedLock') {
            $ends['expire()'] = fn () => $manager->lock($resource, 0) && $manager->expire($resource, 0.5);
        }
        foreach ($ends as $what => $take) {
            $holder = patiently($take);
            same(true, $try(fn () => $manager->acquire($resource, 30, 30)->release()), "$name: after $what");
            unset($holder);
            $name === 'DistributedLock' && $manager->release($resource);
        }

        // A lease that is known to be lost.
        $locks = renewed_locks_and_pools()[$name];
        $lost = patiently(fn () => $make(ttl: 0.5)->acquire($resource, 30));
        take_away($locks, $resource, 'delete');
        wait_for(fn () => !$lost->isHeld(), 60, 'the loss');
        same(true, $try(fn () => $manager->acquire($resource, 60)->release()), "$name: one that was lost");
    }
}
// Other servers.
$holder = (new DistributedLock(redis_server(0)))->acquire(unique(), 0);
same(true, (new DistributedLock(redis_server(1)))->acquire(unique(), 60)->release(), 'another server');
$red = (new RedLock(redis_servers(3)))->acquire(unique('red'), 0);
fails(DeadlockException::class, '*', fn () => (new RedLock(array_reverse(redis_servers(3))))->acquire(unique('red'), 5), 'the servers in another order');
// RedLock::lock() ends by its number of attempts.
same(false, (new RedLock(redis_servers(3), 5, 2))->lock(unique('red')), 'RedLock::lock()');
same([true, true], [$holder->release(), $red->release()], 'the holders');
echo "done\n";
?>
--EXPECT--
done
