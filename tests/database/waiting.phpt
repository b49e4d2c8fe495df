--TEST--
Databases: waiters are served in turn, send little meanwhile, and do not wait for dead ones
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

use Dlock\AcquireTimeoutException;

final class Stop extends Exception
{
}

foreach (private_databases() as $kind => $server) {
    $make = fn (mixed ...$options) => new DistributedLock($server->dsn(), ...$options);
    $make()->isLocked('r');
    /** Starts a waiter; returns when it is in the queue. The waiter's result says what it acquired. */
    $waiter = function (string $resource, ?float $timeout = 60, float $hold = 0) use ($make, $server) {
        $before = count($server->waiters("Lock:$resource"));
        $child = fork_child(function () use ($make, $resource, $timeout, $hold) {
            $lease = $make(ttl: 10)->tryAcquire($resource, $timeout);
            $got = [$lease?->fencingToken, now()];
            $hold > 0 && pause($hold);
            return [...$got, $lease?->release()];
        });
        at_end($child->kill(...));
        wait_for(fn () => count($server->waiters("Lock:$resource")) > $before, 60, 'the waiter to be in the queue');
        return $child;
    };

    // ---- in turn; a release hands the lock over ----
    $holder = $make()->acquire('turn', 0);
    $waiters = [];
    for ($i = 0; $i < 5; $i++) {
        $waiters[] = $waiter('turn', 60, 0.02);
    }
    same(null, $make()->tryAcquire('turn'), "$kind: one that does not wait");
    $holder->release();
    same(null, $make()->tryAcquire('turn'), "$kind: one that does not wait, after the release");
    $results = array_map(fn ($child) => $child->result(), $waiters);
    $fences = array_column($results, 0);
    $sorted = $fences;
    sort($sorted);
    same([$sorted, [true, true, true, true, true]], [$fences, array_column($results, 2)], "$kind: each in its turn");
    wait_for(fn () => $server->waiters('Lock:turn') === [] && $server->token('Lock:turn') === null, 60, 'nothing to be left');

    // ---- a waiter dies, and another is stopped while the lock is handed to it: the next one acquires it after 3 s
    // ----
    $holder = $make()->acquire('dead', 0);
    [$first, $second, $third] = [$waiter('dead'), $waiter('dead'), $waiter('dead')];
    $second->kill();
    $first->signal(SIGSTOP);
    $start = now();
    $holder->release();
    [$fence, $at] = $third->result();
    holds($fence > $holder->fencingToken, "$kind: the third got it", $fence);
    within(2.5, $at - $start, SOON, "$kind: seconds until then");
    $first->signal(SIGCONT); // it was passed over, and queues again
    same(true, $first->result()[2], "$kind: the first that was stopped");

    // ---- a holder dies: the next one acquires the lock at the end of the lease ----
    $dead = database_holder($server->dsn(), 'gone', 1.5);
    $dead->hear();
    $next = $waiter('gone');
    $dead->kill();
    same(true, $next->result()[2], "$kind: after a holder that died");

    // ---- a wait that times out; what waiters send meanwhile ----
    $holder = database_holder($server->dsn(), 'r', 10);
    $holder->hear();
    foreach ([0.0, 0.01, 0.25] as $timeout) {
        within($timeout, seconds(fn () => same(null, $make()->tryAcquire('r', $timeout), "$kind: tryAcquire() with $timeout s")), SOON, "$kind: its time");
    }
    fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0.3 s', fn () => $make(timeout: 0.3)->acquire('r'));
    wait_for(fn () => $server->waiters('Lock:r') === [], 60, 'nobody to be in the queue');
    $manager = $make();
    $manager->isLocked('r');
    $before = $server->statements();
    fork_run(3, fn () => [(new DistributedLock($server->dsn()))->tryAcquire('r', 4.2)], 'exit');
    $sent = $server->statements() - $before;
    within(3 * 3, $sent, 3 * 16, "$kind: statements of three waiters in 4 s, with their login"); // pollers would send hundreds

    // ---- signals ----
    pcntl_async_signals(true);
    $held = $make()->acquire('signals', 0, 10);
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
    for ($i = 1; $i <= 3; $i++) {
        $child->signal(SIGUSR1);
        same($i, $child->hear(), "$kind: signal $i is handled in the wait");
    }
    $held->release();
    same([true, 3], $child->result(), "$kind: a wait with signals");
    $child = fork_child(function (callable $say) use ($make) {
        pcntl_signal(SIGUSR1, fn () => throw new Stop('now'));
        $manager = $make();
        $manager->isLocked('r');
        $say('waits');
        $thrown = thrown_by(fn () => $manager->acquire('r', 60));
        return [get_debug_type($thrown), $manager->tryAcquire('r', 0.01), $manager->acquire('s')->release()];
    });
    $child->hear();
    wait_for(fn () => $server->waiters('Lock:r') !== [], 60, 'it to be in the queue');
    $child->signal(SIGUSR1);
    same([Stop::class, null, true], $child->result(), "$kind: a handler that throws");
    wait_for(fn () => $server->waiters('Lock:r') === [], 60, 'it to leave the queue');
    $holder->say(null);
    same(true, $holder->result(), "$kind: release() of the holder");

    // ---- a waiter's session is ended: the waiter returns to its place ----
    $holder = $make()->acquire('broken', 0);
    $first = $waiter('broken');
    $queue = $server->waiters('Lock:broken');
    foreach (array_diff($server->sessions(), [$server->sessionOf($holder)]) as $session) {
        $server->endSession($session);
    }
    wait_for(fn () => (int) $server->waiters('Lock:broken')[0]['session'] !== (int) $queue[0]['session'], 60, "$kind: it to be back");
    $second = $waiter('broken');
    same([$queue[0]['token'], $queue[0]['ticket']], array_slice(array_values($server->waiters('Lock:broken')[0] ?? []), 0, 2), "$kind: the queue");
    $holder->release();
    $results = [$first->result(), $second->result()];
    holds($results[0][0] < $results[1][0] && $results[0][2] && $results[1][2], "$kind: after a session was ended", $results);

    // ---- one holder at a time, and each process has its turns ----
    $gate = gate();
    $turns = fork_run(6, function () use ($make, $gate) {
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
    same(array_fill(0, 6, 25), $turns, "$kind: turns");
}
echo "done\n";
?>
--EXPECT--
done
