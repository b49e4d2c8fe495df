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

// All begin at once, and the test looks from outside until those that must expire have ended, and the times of all
// others have risen.
$short = 6.0;
$long = 30.0; // no pause of the machine outlasts it
ini_set('dlock.ttl', (string) $long);
$runs_out = [];
$goes_on = [];
$keep = [];
foreach (renewed_locks_and_pools() as $name => $locks) {
    $begin = function (string $what, bool $ends, callable $do) use ($locks, $name, $short, $long, &$runs_out, &$goes_on, &$keep) {
        $resource = unique("$name-$what");
        $ttl = $ends ? $short : $long;
        $keep[] = [$do($resource, $ttl, $locks->manager(ttl: $ttl), $locks->manager(ttl: $ttl, renew: true), $locks->manager(ttl: $ttl, renew: false)), $locks, $resource];
        if ($ends) {
            $runs_out["$name: $what"] = [$locks, $resource];
        } else {
            $goes_on["$name: $what"] = [$locks, $resource];
        }
    };

    $begin('acquire()', false, fn ($r, $ttl, $plain) => $plain->acquire($r, 0));
    $begin('tryAcquire()', false, fn ($r, $ttl, $plain) => $plain->tryAcquire($r));
    $begin('renew: true, no ttl', false, fn ($r, $ttl, $plain, $always) => $always->acquire($r, 0));
    $begin('renew: true, a ttl', false, fn ($r, $ttl, $plain, $always) => $always->acquire($r, 0, $ttl));
    $begin('a ttl', true, fn ($r, $ttl, $plain) => $plain->acquire($r, 0, $ttl));
    $begin('a ttl of tryAcquire()', true, fn ($r, $ttl, $plain) => $plain->tryAcquire($r, 0, $ttl));
    $begin('renew: false', true, fn ($r, $ttl, $plain, $always, $never) => $never->acquire($r, 0));
    $begin('renew: false, a ttl', true, fn ($r, $ttl, $plain, $always, $never) => $never->acquire($r, 0, $ttl));
    if ($name === 'RedLock') { // its lock() always has a ttl
        $begin('lock()', true, fn ($r, $ttl, $plain) => $plain->lock($r, (int) ($ttl * 1000)));
    } elseif ($locks->hasLock()) {
        $begin('lock()', false, fn ($r, $ttl, $plain) => $plain->lock($r, 0) ? $plain : null);
        $begin('lock() with a ttl', true, fn ($r, $ttl, $plain) => $plain->lock($r, 0, $ttl) ? $plain : null);
        $begin('lock(), renew: true, a ttl', false, fn ($r, $ttl, $plain, $always) => $always->lock($r, 0, $ttl) ? $always : null);
        $begin('lock(), renew: false', true, fn ($r, $ttl, $plain, $always, $never) => $never->lock($r, 0) ? $never : null);
        $begin('expire()', true, fn ($r, $ttl, $plain) => $plain->lock($r, 0) && $plain->expire($r, $ttl) ? $plain : null);
        $begin('expire(), renew: true', true, fn ($r, $ttl, $plain, $always) => $always->lock($r, 0) && $always->expire($r, $ttl) ? $always : null);
    }
    $begin('refresh()', false, function ($r, $ttl, $plain) {
        $lease = $plain->acquire($r, 0);
        $lease->refresh();
        return $lease;
    });
    $begin('refresh(), a ttl', true, function ($r, $ttl, $plain) {
        $lease = $plain->acquire($r, 0, $ttl);
        $lease->refresh($ttl);
        return $lease;
    });
    $begin('detach()', true, fn ($r, $ttl, $plain) => $plain->acquire($r, 0)->detach());
    $begin('attach()', false, fn ($r, $ttl, $plain) => $plain->attach($plain->acquire($r, 0)->detach()));
    $begin('attach() by another object', false, fn ($r, $ttl, $plain) => $locks->manager()->attach($plain->acquire($r, 0)->detach()));
    $begin('attach(), a ttl', true, fn ($r, $ttl, $plain) => $plain->attach($plain->acquire($r, 0, $ttl)->detach()));
    $begin('attach(), a ttl, renew: true', false, fn ($r, $ttl, $plain, $always) => $always->attach($plain->acquire($r, 0, $ttl)->detach()));
    $begin('attach(), renew: false', true, fn ($r, $ttl, $plain, $always, $never) => $never->attach($plain->acquire($r, 0)->detach()));
    $begin('attach() in a process', false, function ($r, $ttl, $plain) use ($locks) {
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
    $begin('the end of a process', true, fn ($r, $ttl) => fork_child(function () use ($locks, $ttl, $r) {
        $manager = $locks->manager(ttl: $ttl, releaseOnShutdown: false);
        $GLOBALS['lease'] = $manager->acquire($r, 0); // held until the very end
        return null;
    })->result());

    // refresh($ttl) renews with the new time: with a shorter one sooner; with a longer one not after a third of the old one.
    $begin('refresh() to less', false, function ($r) use ($locks) {
        $lease = $locks->manager(ttl: 100)->acquire($r, 0);
        $lease->refresh(12);
        return $lease;
    });
    $longer[$name] = [$locks, unique("$name-longer"), $locks->manager(ttl: 15)->acquire(unique("$name-longer"), 0)];
    $longer[$name][2]->refresh(100);

    // dlock.max_hold: from then on it is not renewed
    ini_set('dlock.max_hold', '8');
    foreach (['', ', attach()'] as $what) {
        $since = now();
        $manager = $locks->manager(ttl: 9);
        $lease = $manager->acquire(unique("$name-hold$what"), 0);
        $limited["$name$what"] = [$what === '' ? $lease : $manager->attach($lease->detach()), $since];
    }
    ini_set('dlock.max_hold', '0');
}
$without = (new DistributedLock(redis_server(), ttl: 9))->acquire(unique('no-limit'), 0);
$begun = now();
$ended = $lowest = $renewed = $held = [];
/** Has the time risen? By less it rises if a RedLock confirms what a server has. */
$rises = function (string $what, int $left) use (&$lowest): bool {
    $lowest[$what] = min($lowest[$what] ?? $left, $left);
    return $left > $lowest[$what] + 2500;
};
while (count($ended) < count($runs_out) || count($renewed) < count($goes_on) || count($held) < count($limited)) {
    if (now() > $begun + 90) {
        echo 'do not end: ', implode(', ', array_keys(array_diff_key($runs_out, $ended))), '; do not rise: ', implode(', ', array_keys(array_diff_key($goes_on, $renewed))),
            '; no limit: ', implode(', ', array_keys(array_diff_key($limited, $held))), "\n";
        break;
    }
    foreach ($runs_out as $what => [$locks, $resource]) {
        if (!isset($ended[$what]) && array_filter(values_of($locks, $resource)) === []) {
            $ended[$what] = now() - $begun;
        }
    }
    foreach ($goes_on as $what => [$locks, $resource]) {
        $times = times_of($locks, $resource);
        if (of_majority($times) <= 0) {
            echo "$what: not renewed (", shown($times), ")\n";
            unset($goes_on[$what], $renewed[$what]);
        } elseif ($rises($what, of_majority($times))) {
            $renewed[$what] = true;
        }
        str_ends_with($what, 'refresh() to less') && holds(max($times) <= 12_000, $what, $times);
    }
    foreach ($longer as $name => [$locks, $resource]) {
        $times = times_of($locks, $resource);
        holds(max($times) <= 100_000 && of_majority($times) > 0, "$name: refresh() to more", $times);
        holds(!$rises("$name: to more", of_majority($times)) || now() > $begun + 12, "$name: renewed too soon after refresh() to more", $times);
    }
    foreach ($limited as $name => [$lease, $since]) {
        if (!isset($held[$name]) && !$lease->isHeld()) {
            $held[$name] = now() - $since;
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
foreach ($longer as $name => [, , $lease]) {
    same([true, true], [$lease->isHeld(), $lease->release()], "$name: isHeld(), release() after refresh() to more");
}
foreach ($limited as $name => [$lease]) {
    within(9.5, $held[$name] ?? 0, SOON, "$name: seconds held, longer than without a renewal");
    same([Dlock\LeaseState::Lost, false], [$lease->state(), $lease->release()], "$name: after the limit");
}
same([true, true], [$without->isHeld(), $without->release()], 'one that was taken without limit');
echo "done\n";
?>
--EXPECT--
done
