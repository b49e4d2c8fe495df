--TEST--
memcached: a waiter asks again and again, until it acquires the lock, its timeout ends, or a signal ends the wait
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;

final class Stop extends Exception
{
}

$server = new PrivateMemcached();
$raw = $server->raw();
$make = fn (mixed ...$options) => new DistributedLock($server->dsn(), ...$options);
$ways = [
    'lock()' => fn ($m, $r, $t) => $m->lock($r, $t) && $m->release($r),
    'acquire()' => fn ($m, $r, $t) => $m->acquire($r, $t)->release(),
    'tryAcquire()' => fn ($m, $r, $t) => (bool) $m->tryAcquire($r, $t)?->release(),
    'synchronized()' => fn ($m, $r, $t) => $m->synchronized($r, fn ($lease) => $lease->isHeld(), $t),
];

// ---- until the lock is free ----
foreach ($ways as $way => $wait) {
    $holder = $make()->acquire($way, 0, 100);
    $waiter = fork_child(function (callable $say) use ($make, $wait, $way) {
        $manager = $make();
        $manager->isLocked($way); // connects
        $say('waits');
        return [$wait($manager, $way, 60), now(), Dlock\stats()['waits']];
    });
    $waiter->hear();
    pause(0.3);
    $released = now(); // before it: the waiter may acquire the lock before the answer is read here
    same(true, $holder->release(), "$way: release()");
    [$got, $at, $waits] = $waiter->result();
    same([true, 1], [$got, $waits], "$way: what the waiter got");
    within(0, $at - $released, SOON, "$way: seconds from the release to the waiter"); // it asks after at most 100 ms
}

// A holder dies: the waiter acquires the lock at the end of the lease.
$dead = memcached_holder($server->dsn(), 'dead', MEMCACHED_TTL);
$dead->hear();
$dead->kill();
same(true, $make()->lock('dead', 60), 'the lock of a holder that is dead');

// ---- until the timeout ends ----
$holder = memcached_holder($server->dsn(), 'r');
$holder->hear();
$manager = $make(timeout: 0.3);
foreach ([0.0, 0.01, 0.25, 1.0] as $timeout) {
    $results = [];
    $time = seconds(function () use ($manager, $timeout, &$results) {
        $results[] = $manager->tryAcquire('r', $timeout);
    });
    within($timeout, $time, SOON, "tryAcquire() with $timeout s");
    within($timeout, seconds(function () use ($manager, $timeout, &$results) {
        $results[] = $manager->lock('r', $timeout);
    }), SOON, "lock() with $timeout s");
    same([null, false], $results, "with $timeout s");
}
within(0.3, seconds(fn () => fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0.3 s', fn () => $manager->acquire('r'))), SOON, 'the manager\'s timeout');
$before = Dlock\stats();
$manager->tryAcquire('r', 0.2);
$after = Dlock\stats();
same([1, 1], [$after['waits'] - $before['waits'], $after['timeouts'] - $before['timeouts']], 'stats()');
within(0.2, $after['wait_time'] - $before['wait_time'], SOON, 'the time waited, of stats()');

// A waiter polls, but not too often: after 5 ms, then up to every 100 ms.
$asked = fn () => (int) $raw->stats()['cmd_set'] + (int) $raw->stats()['cmd_meta'];
$before = $asked();
$waiter = fork_child(fn () => $make()->tryAcquire('r', 60));
$time = seconds(fn () => wait_for(fn () => $asked() - $before >= 30, 60, 'commands of a waiter'));
within(0.5, $time, 30, 'seconds in which a waiter has sent 30 commands');
$waiter->kill();

// ---- signals ----
pcntl_async_signals(true);
$lease = $make()->acquire('signals', 0, 100);
$child = fork_child(function (callable $say) use ($make) {
    $count = 0;
    pcntl_signal(SIGUSR1, function () use ($say, &$count) {
        $say(++$count);
    });
    $manager = $make();
    $manager->isLocked('signals');
    $say('waits');
    return [$manager->tryAcquire('signals', 60)?->release(), $count];
});
$child->hear();
for ($i = 1; $i <= 5; $i++) {
    $child->signal(SIGUSR1);
    same($i, $child->hear(), "signal $i is handled in the wait");
}
same([true, [true, 5]], [$lease->release(), $child->result()], 'a wait with signals');

$child = fork_child(function (callable $say) use ($make) {
    pcntl_signal(SIGUSR1, fn () => throw new Stop('now'));
    $manager = $make();
    $manager->isLocked('r');
    $say('waits');
    $thrown = thrown_by(fn () => $manager->acquire('r', 60));
    $at = now();
    return [get_debug_type($thrown), $at, $manager->tryAcquire('r', 0.01), $manager->acquire('s')->release()];
});
$child->hear();
pause(0.2);
$stopped = now();
$child->signal(SIGUSR1);
[$thrown, $at, $again, $other] = $child->result();
same([Stop::class, null, true], [$thrown, $again, $other], 'a handler that throws');
within(0, $at - $stopped, SOON, 'a handler that throws: seconds');
$holder->say(null);
same(true, $holder->result(), 'release() of the holder');
same(null, $raw->get('Lock:r'), 'nothing is left of those that waited');

// ---- a process does not wait for itself ----
$mine = $make();
$mine->lock('own', 0);
fails(DeadlockException::class, 'This process holds the lock "own" already, and would wait for itself', fn () => $make()->acquire('own', 10));
same(null, $make()->tryAcquire('own'), 'without a wait');
// A lease of its own that ends can be waited for.
$lease = $make()->acquire('ends', 60, MEMCACHED_TTL);
same(true, $make()->lock('ends', 60), 'one\'s own lease that ends');

// ---- several processes: one holder at a time, and each has its turns ----
$log = temporary_directory() . '/log';
$gate = gate();
$turns = fork_run(4, function () use ($make, $gate) {
    $manager = $make();
    for ($i = 0; $i < 25; $i++) {
        $manager->synchronized('turns', function () use ($gate) {
            enter($gate);
            pause(0.001);
            leave($gate);
        }, 60);
    }
    return $i;
});
same([25, 25, 25, 25], $turns, 'turns');
echo "done\n";
?>
--EXPECT--
done
