--TEST--
Which leases are renewed, for how long, and with what lease time: ttl, renew, expire(), refresh(), detach(), attach(), dlock.max_hold, the request's end
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

/** For how long a majority of the servers has the key. A server that missed a request receives the key later. */
function of_majority(array $times): int
{
    rsort($times);
    return $times[intdiv(count($times), 2)];
}

// All begin at once, and the test looks from outside until the last has ended. $runs_out says which must expire.
$ttl = 6.0;
$runs_out = [];
$goes_on = [];
$keep = [];
foreach (renewed_locks_and_pools() as $name => $locks) {
    $begin = function (string $what, bool $ends, callable $do) use ($locks, $name, &$runs_out, &$goes_on, &$keep) {
        $resource = unique("$name-$what");
        $keep[] = [$do($resource), $locks, $resource];
        if ($ends) {
            $runs_out["$name: $what"] = [$locks, $resource];
        } else {
            $goes_on["$name: $what"] = [$locks, $resource];
        }
    };
    $plain = $locks->manager(ttl: $ttl);
    $always = $locks->manager(ttl: $ttl, renew: true);
    $never = $locks->manager(ttl: $ttl, renew: false);

    $begin('acquire()', false, fn ($r) => $plain->acquire($r, 0));
    $begin('tryAcquire()', false, fn ($r) => $plain->tryAcquire($r));
    $begin('renew: true, no ttl', false, fn ($r) => $always->acquire($r, 0));
    $begin('renew: true, a ttl', false, fn ($r) => $always->acquire($r, 0, $ttl));
    $begin('a ttl', true, fn ($r) => $plain->acquire($r, 0, $ttl));
    $begin('a ttl of tryAcquire()', true, fn ($r) => $plain->tryAcquire($r, 0, $ttl));
    $begin('renew: false', true, fn ($r) => $never->acquire($r, 0));
    $begin('renew: false, a ttl', true, fn ($r) => $never->acquire($r, 0, $ttl));
    if ($name === 'RedLock') { // its lock() always has a ttl
        $begin('lock()', true, fn ($r) => $plain->lock($r, (int) ($ttl * 1000)));
    } elseif ($locks->hasLock()) {
        $begin('lock()', false, fn ($r) => $plain->lock($r, 0) ? $plain : null);
        $begin('lock() with a ttl', true, fn ($r) => $plain->lock($r, 0, $ttl) ? $plain : null);
        $begin('lock(), renew: true, a ttl', false, fn ($r) => $always->lock($r, 0, $ttl) ? $always : null);
        $begin('lock(), renew: false', true, fn ($r) => $never->lock($r, 0) ? $never : null);
        $begin('expire()', true, fn ($r) => $plain->lock($r, 0) && $plain->expire($r, $ttl) ? $plain : null);
        $begin('expire(), renew: true', true, fn ($r) => $always->lock($r, 0) && $always->expire($r, $ttl) ? $always : null);
    }
    $begin('refresh()', false, function ($r) use ($plain) {
        $lease = $plain->acquire($r, 0);
        $lease->refresh();
        return $lease;
    });
    $begin('refresh(), a ttl', true, function ($r) use ($plain, $ttl) {
        $lease = $plain->acquire($r, 0, $ttl);
        $lease->refresh($ttl);
        return $lease;
    });
    $begin('detach()', true, fn ($r) => $plain->acquire($r, 0)->detach());
    $begin('attach()', false, fn ($r) => $plain->attach($plain->acquire($r, 0)->detach()));
    $begin('attach() by another object', false, fn ($r) => $locks->manager()->attach($plain->acquire($r, 0)->detach()));
    $begin('attach(), a ttl', true, fn ($r) => $plain->attach($plain->acquire($r, 0, $ttl)->detach()));
    $begin('attach(), a ttl, renew: true', false, fn ($r) => $always->attach($plain->acquire($r, 0, $ttl)->detach()));
    $begin('attach(), renew: false', true, fn ($r) => $never->attach($plain->acquire($r, 0)->detach()));
    $begin('attach() in a process', false, function ($r) use ($locks, $plain) {
        $handle = $plain->acquire($r, 0)->detach();
        $child = fork_child(function (callable $say, callable $hear) use ($locks, $handle) {
            $lease = $locks->manager()->attach($handle);
            $say(null);
            $hear();
            return $lease->release();
        });
        $child->hear();
        return $child;
    });
    $begin('the end of a process', true, fn ($r) => fork_child(function () use ($locks, $ttl, $r) {
        $manager = $locks->manager(ttl: $ttl, releaseOnShutdown: false);
        $GLOBALS['lease'] = $manager->acquire($r, 0); // held until the very end
        return null;
    })->result());
}
$begun = now();
$ended = [];
while (now() < $begun + 1.5 * $ttl || count($ended) < count($runs_out)) {
    if (now() > $begun + 60) {
        echo 'do not end: ', implode(', ', array_diff(array_keys($runs_out), array_keys($ended))), "\n";
        break;
    }
    foreach ($runs_out as $what => [$locks, $resource]) {
        if (!isset($ended[$what]) && array_filter(values_of($locks, $resource)) === []) {
            $ended[$what] = now() - $begun;
        }
    }
    foreach ($goes_on as $what => [$locks, $resource]) {
        if (of_majority($times = times_of($locks, $resource)) <= 0) {
            echo "$what: not renewed (", shown($times), ")\n";
            unset($goes_on[$what]);
        }
    }
    nap(0.1);
}
within(0, max($ended ?: [0]), SOON, 'the time until the last has run out');
foreach ($keep as [$holder, $locks, $resource]) {
    $goes = in_array([$locks, $resource], $goes_on);
    if ($holder instanceof Dlock\Lease) {
        same($goes ? Dlock\LeaseState::Held : Dlock\LeaseState::Lost, $holder->state(), "$resource: state()");
        same($goes, $holder->release(), "$resource: release()");
    } elseif ($holder instanceof ForkedChild) {
        $holder->say(null);
        same(true, $holder->result(), "$resource: release() by the other process");
    } elseif ($holder instanceof DistributedLock) {
        same($goes, $holder->release($resource), "$resource: release()");
    }
}

// ---- refresh($ttl) renews with the new time ----
foreach ([[6.0, 30.0], [30.0, 6.0]] as [$first, $then]) {
    $leases = [];
    foreach (renewed_locks_and_pools() as $name => $locks) {
        $leases[$name] = [$locks, unique("$name-refresh-$then"), $locks->manager(ttl: $first)->acquire(unique("$name-refresh-$then"), 0)];
        $leases[$name][2]->refresh($then);
    }
    $renewals = Dlock\stats()['renewals'];
    for ($until = now() + 8; now() < $until; nap(0.1)) {
        foreach ($leases as $name => [$locks, $resource]) {
            $times = times_of($locks, $resource);
            (max($times) <= $then * 1000 && of_majority($times) > 0) || exit("$name: refresh($then) after a ttl of $first: " . shown($times));
        }
    }
    within($then > $first ? 0 : count($leases), Dlock\stats()['renewals'] - $renewals, $then > $first ? 1 : 100, "renewals after refresh($then)"); // 1: RedLock may have to confirm one
    foreach ($leases as $name => [, , $lease]) {
        same([true, true], [$lease->isHeld(), $lease->release()], "$name: isHeld(), release() after refresh($then)");
    }
}

// ---- dlock.max_hold ----
ini_set('dlock.max_hold', '12');
foreach (renewed_locks_and_pools() as $name => $locks) {
    $held[$name] = [$locks->manager(ttl: 6.0)->acquire(unique("$name-hold"), 0), now()];
    $held["$name, attach()"] = [$locks->manager()->attach($locks->manager(ttl: 6.0)->acquire(unique("$name-hold-attached"), 0)->detach()), now()];
}
ini_set('dlock.max_hold', '0');
$without = (new DistributedLock(redis_server(), ttl: 6.0))->acquire(unique('no-limit'), 0);
foreach ($held as $name => [$lease, $since]) {
    wait_for(fn () => !$lease->isHeld(), 60, "$name: the limit");
    within(9, now() - $since, SOON, "$name: seconds held");
    same([Dlock\LeaseState::Lost, false], [$lease->state(), $lease->release()], "$name: after the limit");
}
same([true, true], [$without->isHeld(), $without->release()], 'one that was taken without limit');
echo "done\n";
?>
--EXPECT--
done
