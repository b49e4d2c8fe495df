--TEST--
A server stops answering: the lease is Held, Uncertain, and Lost no later than the key's end; Held again if the server returns in time
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseState;

$states = function (string $name): void {
    $locks = private_locks($name, 3);
    $pause = fn (int ...$servers) => array_walk($servers, fn ($i) => $locks->servers[$i]->pause());
    $resume = fn (int ...$servers) => array_walk($servers, fn ($i) => $locks->servers[$i]->resume());
    $most = $name === 'RedLock' ? [0, 1] : [0];
    $ttl = 30.0; // no pause of the machine outlasts it

    // The server returns in time for one lease, which is held again, and its key was there all the time. It returns too
    // late for another one, which is lost.
    $lease = $locks->manager(ttl: $ttl)->acquire('back', 0);
    $value = all_values_of($locks, 'back');
    same(LeaseState::Held, $lease->state(), "$name: at first");
    $late = $locks->manager(ttl: 9.0)->acquire('late', 0);
    $seen = [];
    $pause(...$most);
    holds(busy_until(function () use ($lease, $late, &$seen) {
        [$held, $state] = [$late->isHeld(), $late->state()];
        if ($held === ($state !== LeaseState::Lost)) { // not at that very moment
            $seen[$state->name] = $held;
        }
        return isset($seen['Lost']) && $lease->state() !== LeaseState::Held;
    }, 60) !== null, "$name: it is noticed");
    same([LeaseState::Uncertain, true], [$lease->state(), $lease->isHeld()], "$name: out of touch");
    $remaining = $lease->remaining();
    within(0.5, $remaining, $ttl * 2 / 3, "$name: remaining() is known before it is short");
    holds(busy_until(fn () => $lease->remaining() < $remaining, 60) !== null, "$name: and falls");
    same([LeaseState::Lost, false, 0.0], [$late->state(), $late->isHeld(), $late->remaining()], "$name: too late");
    same(['Held' => true, 'Uncertain' => true, 'Lost' => false], $seen, "$name: states, and isHeld()");
    $resume(...$most);
    holds(busy_until(fn () => $lease->state() === LeaseState::Held, 60) !== null, "$name: held again");
    within($ttl / 3, $lease->remaining(), $ttl, "$name: remaining() after that");
    same($value, values_of($locks, 'back'), "$name: the key");
    foreach ($locks->raw() as $redis) {
        $redis->cmd('SET', Locks::key('late'), $late->token, 'PX', 60_000);
    }
    busy(1);
    same([LeaseState::Lost, false], [$late->state(), $late->isHeld()], "$name: lost for good, though the server is back");
    same(false, $late->release(), "$name: release() of what was lost");
    wait_for(fn () => array_filter(values_of($locks, 'late')) === [], 60, "$name: the key to be gone all the same");

    // The server is killed: the client knows at once, and the server may return, without data.
    $gone = $locks->manager(ttl: 6.0)->acquire('killed', 0);
    foreach ($most as $i) {
        $locks->servers[$i]->kill();
    }
    $start = now();
    holds(busy_until(fn () => !$gone->isHeld(), 60) !== null, "$name: killed");
    within(0, now() - $start, SOON, "$name: seconds until the loss is known");
    foreach ($most as $i) {
        $locks->servers[$i]->restart();
    }
    busy(0.3);
    same([LeaseState::Lost, 0.0], [$gone->state(), $gone->remaining()], "$name: killed and restarted");
};
fork_run(2, fn (int $i) => $states(['DistributedLock', 'RedLock'][$i]), 'exit', 150);

echo "done\n";
?>
--EXPECT--
done
