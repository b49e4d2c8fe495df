--TEST--
A server that stops answering: Held, Uncertain, and Lost no later than the key's end on the server; Held again where it comes back in time
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\Lease;
use Dlock\LeaseState;

// ---- the states, in order ----
foreach (['DistributedLock', 'RedLock'] as $name) {
    $locks = private_locks($name, 3);
    $pause = fn (int ...$servers) => array_walk($servers, fn ($i) => $locks->servers[$i]->pause());
    $resume = fn (int ...$servers) => array_walk($servers, fn ($i) => $locks->servers[$i]->resume());
    $most = $name === 'RedLock' ? [0, 1] : [0];
    $ttl = 6.0;
    $manager = $locks->manager(ttl: $ttl);

    // Back in time: held again, and the key was there all along.
    $lease = $manager->acquire('back', 0);
    $value = all_values_of($locks, 'back');
    same(LeaseState::Held, $lease->state(), "$name: at first");
    $pause(...$most);
    holds(busy_until(fn () => $lease->state() !== LeaseState::Held, 20) !== null, "$name: it is noticed");
    same([LeaseState::Uncertain, true], [$lease->state(), $lease->isHeld()], "$name: out of touch");
    $remaining = $lease->remaining();
    within(0.5, $remaining, $ttl * 2 / 3, "$name: remaining() is known before it is short");
    holds(busy_until(fn () => $lease->remaining() < $remaining, 5) !== null, "$name: and falls");
    $resume(...$most);
    holds(busy_until(fn () => $lease->state() === LeaseState::Held, 10) !== null, "$name: held again");
    within($ttl / 3, $lease->remaining(), $ttl, "$name: remaining() after that");
    same($value, values_of($locks, 'back'), "$name: the key");

    // Back too late: lost, though the key may be there.
    $late = $locks->manager(ttl: 1.0)->acquire('late', 0);
    $seen = [];
    $pause(...$most);
    busy_until(function () use ($late, &$seen) {
        [$held, $state] = [$late->isHeld(), $late->state()];
        if ($held === ($state !== LeaseState::Lost)) { // not in the very moment
            $seen[$state->name] = $held;
        }
        return isset($seen['Lost']);
    }, 20);
    same([LeaseState::Lost, false, 0.0], [$late->state(), $late->isHeld(), $late->remaining()], "$name: too late");
    same(['Held' => true, 'Uncertain' => true, 'Lost' => false], $seen, "$name: states, and isHeld()");
    $resume(...$most);
    foreach ($locks->raw() as $redis) {
        $redis->cmd('SET', Locks::key('late'), $late->token, 'PX', 60_000);
    }
    busy(1);
    same([LeaseState::Lost, false], [$late->state(), $late->isHeld()], "$name: lost for good, though the server is back");
    same(false, $late->release(), "$name: release() of what was lost");
    wait_for(fn () => array_filter(values_of($locks, 'late')) === [], 60, "$name: the key to be gone all the same");

    // A minority is not missed.
    if ($name === 'RedLock') {
        $pause(2);
        $alone = $manager->acquire('majority', 10);
        for ($until = now() + $ttl; now() < $until; nap(0.01)) {
            $alone->state() === LeaseState::Held || exit("a majority is enough: {$alone->state()->name}\n");
        }
        within($ttl / 2, $alone->remaining(), $ttl, 'remaining() by the majority');
        $resume(2);
        same(true, $alone->release(), 'release() by the majority');
    }

    // Killed: known at once, and it may come back, with nothing.
    $gone = $manager->acquire('killed', 0);
    foreach ($most as $i) {
        $locks->servers[$i]->kill();
    }
    $start = now();
    holds(busy_until(fn () => !$gone->isHeld(), 20) !== null, "$name: killed");
    within(0, now() - $start, SOON, "$name: seconds until the loss is known");
    foreach ($most as $i) {
        $locks->servers[$i]->restart();
    }
    busy(0.3);
    same([LeaseState::Lost, 0.0], [$gone->state(), $gone->remaining()], "$name: killed and restarted");
}

echo "states\n"; // tells run-tests.php that the test is alive

// ---- randomised: never held for longer than on the servers ----
// A server tells when its keys end, and says nothing more until they have: in one transaction, so nothing comes in between.
// The holder is stopped now and then, so that it reads answers late.
$trials = (int) amount('DLOCK_TEST_TRIALS', 96);
$run = function (string $name) use ($trials): array {
    $locks = private_locks($name, 3, ['enable-debug-command yes']);
    $batch = 24;
    $longest = 1000;
    $count = 0;
    $late = [];
    while ($count < $trials / 2) {
        $holder = fork_child(function (callable $say) use ($locks, $batch, $longest) {
            for ($i = 0; $i < $batch; $i++) {
                $leases[$i] = $locks->manager(ttl: random_int(300, $longest) / 1000)->acquire("r$i", 20);
            }
            $say(null);
            $last = array_fill(0, $batch, 0);
            $held = $leases;
            while ($held) {
                foreach ($held as $i => $lease) {
                    $now = wall_ms();
                    if ($lease->isHeld()) {
                        $last[$i] = $now;
                    } else {
                        unset($held[$i]);
                    }
                }
            }
            return [$last, array_map(fn (Lease $lease) => [$lease->state()->name, $lease->remaining()], $leases)];
        });
        $holder->hear(60);
        $disturb = function (int $times) use ($holder) {
            while ($times-- > 0) {
                nap(random_int(0, 150) / 1000);
                $holder->signal(SIGSTOP);
                nap(random_int(10, 120) / 1000);
                $holder->signal(SIGCONT);
            }
        };
        $disturb(random_int(0, 4)); // and so it is anywhere in a round of renewals
        $down = $locks->name === 'RedLock' ? (array) array_rand([0, 1, 2], random_int(2, 3)) : [0];
        foreach ($down as $i) {
            $redis = $locks->raw()[$i];
            $redis->send('MULTI');
            for ($k = 0; $k < $batch; $k++) {
                $redis->send('PEXPIRETIME', Locks::key("r$k"));
            }
            $redis->send('DEBUG', 'SL' . 'EEP', ($longest + 600) / 1000);
            $redis->send('EXEC');
        }
        $disturb(random_int(0, 3));
        $ends = [];
        foreach ($down as $i) {
            for ($k = 0; $k < $batch + 2; $k++) {
                $locks->raw()[$i]->reply();
            }
            $ends[$i] = $locks->raw()[$i]->reply();
        }
        [$last, $after] = $holder->result(60);
        for ($k = 0; $k < $batch; $k++) {
            // The quorum's keys: all but the longest living of three, and a server that goes on counts as living for ever.
            $of = array_column($ends, $k);
            while (count($of) < count($locks->addresses)) {
                $of[] = PHP_INT_MAX;
            }
            sort($of);
            $end = count($of) === 3 ? $of[1] : $of[0];
            if (min($of) < 0) {
                continue; // was over before: a very slow machine
            }
            $count++;
            if ($last[$k] > $end + 1 || $after[$k] !== ['Lost', 0.0]) {
                $late[] = [round($last[$k] - $end, 1), ...$after[$k]];
            }
        }
    }
    return [$count, $late];
};
$results = fork_run(2, fn (int $i) => $run(['DistributedLock', 'RedLock'][$i]), 'exit', 20 + $trials);
foreach (['DistributedLock', 'RedLock'] as $i => $name) {
    [$count, $late] = $results[$i];
    within($trials / 2, $count, $trials * 10, "$name: trials");
    same([], $late, "$name: ms that leases were held for longer than their keys lived, and what was said then");
}
echo "done\n";
?>
--EXPECT--
states
done
