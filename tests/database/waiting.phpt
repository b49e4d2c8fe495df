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
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $make = fn (mixed ...$options) => new DistributedLock($dsn, ...['ttl' => 100, ...$options]);
    $make()->isLocked('r');
    /** Starts a waiter; returns when it is in the queue. The waiter's result says what it acquired. */
    $waiter = function (string $resource, ?float $timeout = 60, float $hold = 0) use ($make, $server) {
        $before = count($server->waiters("Lock:$resource"));
        $child = fork_child(function () use ($make, $resource, $timeout, $hold) {
            $lease = $make()->tryAcquire($resource, $timeout);
            $got = [$lease?->fencingToken, now()];
            $hold > 0 && pause($hold);
            return [...$got, $lease?->release()];
        });
        at_end($child->kill(...));
        wait_for(fn () => count($server->waiters("Lock:$resource")) > $before, 60, 'the waiter to be in the queue');
        return $child;
    };

    // ---- in turn; a release hands the lock over ----
    in_time(3, function (int $number) use ($kind, $server, $make, $waiter) { // until then no waiter counts as dead
        $resource = "turn-$number";
        $holder = $make()->acquire($resource, 0);
        $waiters = [];
        for ($i = 0; $i < 5; $i++) {
            $waiters[] = $waiter($resource, 60, 0.02);
        }
        same(null, $make()->tryAcquire($resource), "$kind: one that does not wait");
        $holder->release();
        same(null, $make()->tryAcquire($resource), "$kind: one that does not wait, after the release");
        $results = array_map(fn ($child) => $child->result(), $waiters);
        $fences = array_column($results, 0);
        $sorted = $fences;
        sort($sorted);
        same([$sorted, [true, true, true, true, true]], [$fences, array_column($results, 2)], "$kind: each in its turn");
        wait_for(fn () => $server->waiters("Lock:$resource") === [] && $server->token("Lock:$resource") === null, 60, 'nothing to be left');
    });

    // ---- a waiter dies, and another is stopped while the lock is handed to it: the next one acquires it after 3 s
    // ----
    $holder = $make()->acquire('dead', 0);
    [$first, $second, $third] = [$waiter('dead'), $waiter('dead'), $waiter('dead')];
    $second->kill();
    $first->signal(SIGSTOP);
    wait_until_stopped($first->pid);
    $server->vouch('Lock:dead', $server->waiters('Lock:dead')[0]['token']); // it stopped just now
    $start = now();
    $holder->release();
    [$fence, $at] = $third->result();
    holds($fence > $holder->fencingToken, "$kind: the third got it", $fence);
    within(2.5, $at - $start, SOON, "$kind: seconds until then");
    $first->signal(SIGCONT); // it was passed over, and queues again
    same(true, $first->result()[2], "$kind: the first that was stopped");

    // ---- a holder dies: the next one acquires the lock at the end of the lease ----
    $dead = database_holder($dsn, 'gone');
    $dead->hear();
    $next = $waiter('gone');
    $dead->kill();
    $server->takeAway('Lock:gone');
    same(true, $next->result()[2], "$kind: after a holder that died");

    // ---- a wait that times out; what waiters send meanwhile ----
    $holder = database_holder($dsn, 'r', 280);
    $holder->hear();
    foreach ([0.0, 0.01, 0.25] as $timeout) {
        within($timeout, seconds(fn () => same(null, $make()->tryAcquire('r', $timeout), "$kind: tryAcquire() with $timeout s")), SOON, "$kind: its time");
    }
    fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0.3 s', fn () => $make(timeout: 0.3)->acquire('r'));
    wait_for(fn () => $server->waiters('Lock:r') === [], 60, 'nobody to be in the queue');
    $manager = $make();
    $manager->isLocked('r');
    $before = $server->statements();
    fork_run(3, fn () => [$make()->tryAcquire('r', 4.2)], 'exit');
    $sent = $server->statements() - $before;
    within(3 * 3, $sent, 3 * 16, "$kind: statements of three waiters in 4 s, with their login"); // pollers would send hundreds

    // ---- signals ----
    pcntl_async_signals(true);
    $held = $make()->acquire('signals', 0);
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
    in_time(3, function (int $number) use ($kind, $server, $make, $waiter) {
        $resource = "broken-$number";
        $holder = $make()->acquire($resource, 0);
        $first = $waiter($resource);
        $queue = $server->waiters("Lock:$resource");
        foreach (array_diff($server->sessions(), [$server->sessionOf($holder)]) as $session) {
            $server->endSession($session);
        }
        wait_for(fn () => (int) ($server->waiters("Lock:$resource")[0]['session'] ?? $queue[0]['session']) !== (int) $queue[0]['session'], 60, "$kind: it to be back");
        $second = $waiter($resource);
        same([$queue[0]['token'], $queue[0]['ticket']], array_slice(array_values($server->waiters("Lock:$resource")[0] ?? []), 0, 2), "$kind: the queue");
        $holder->release();
        $results = [$first->result(), $second->result()];
        holds($results[0][0] < $results[1][0] && $results[0][2] && $results[1][2], "$kind: after a session was ended", $results);
    });

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
