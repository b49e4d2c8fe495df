--TEST--
Leases of thirty seconds are kept while their holder runs PHP code, waits, or is in a blocking call
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$seconds = (float) amount('DLOCK_TEST_HOLD', 22);
$ttl = 30.0; // the shortest that no pause of the machine outlasts; renewed twice meanwhile

// Each way is one uninterrupted call; only PHP code looks at the leases meanwhile.
$ways = [
    'PHP code' => fn (array $leases, array &$unheld) => busy($seconds, function () use ($leases, &$unheld) {
        foreach ($leases as $name => $lease) {
            $lease->isHeld() || $unheld[$name] = ($unheld[$name] ?? 0) + 1;
        }
    }),
    'a nap' => fn () => nap($seconds),
    'a query' => function (array $leases, array &$unheld, string $resource) use ($seconds) {
        $redis = new RedisRaw(redis_addresses()[5], timeout: $seconds + 60);
        $redis->cmd('BLPOP', "no-such-list-$resource", $seconds) === null || throw new RuntimeException('a list?');
    },
    'another program' => fn () => exec("exec timeout $seconds tail -f /dev/null"),
];

$children = [];
foreach (renewed_locks_and_pools() as $name => $locks) {
    foreach ($ways as $way => $do) {
        if ($way === 'PHP code' && $name !== 'RedLock') {
            continue; // it keeps a processor busy, and the same thread renews
        }
        $resource = unique("$name-$way");
        $children["$name, $way"] = [$locks, $resource, fork_child(function (callable $say, callable $hear) use ($locks, $resource, $do, $ttl) {
            $manager = $locks->manager(ttl: $ttl);
            $leases = ['acquired' => $manager->acquire("$resource-acquired"),
                'explicit' => $locks->manager(renew: true)->acquire("$resource-explicit", 0, $ttl)];
            !$locks->hasLock() || $manager->lock("$resource-locked") || throw new RuntimeException('not locked');
            $say(null);
            $hear();
            $unheld = [];
            $do($leases, $unheld, $resource);
            foreach ($leases as $kind => $lease) {
                $unheld += [$kind => $lease->state()->name];
            }
            $say([$unheld, min(array_map(fn ($lease) => $lease->remaining(), $leases)), Dlock\stats()['renewals'], Dlock\stats()['renewal_failures']]);
            $hear();
            $released = array_map(fn ($lease) => $lease->release(), $leases);
            return !$locks->hasLock() ? $released : $released + ['locked' => $manager->release("$resource-locked")];
        })];
    }
}

$values = [];
$look = function (string $when) use ($children, $ttl, &$values) {
    foreach ($children as $child => [$locks, $resource]) {
        foreach (!$locks->hasLock() ? ['acquired', 'explicit'] : ['acquired', 'explicit', 'locked'] as $kind) {
            $values["$child: $kind"] ??= all_values_of($locks, "$resource-$kind");
            holds(count(array_filter($values["$child: $kind"])) === count($locks->addresses), "$child, $kind: the first look");
            $now = values_of($locks, "$resource-$kind");
            same($values["$child: $kind"], $now, "$child, $kind, $when: the value");
            $now = times_of($locks, "$resource-$kind");
            holds(min($now) > 0 && max($now) <= $ttl * 1000, "$child, $kind, $when: its time", $now);
            if ($values["$child: $kind"] !== values_of($locks, "$resource-$kind")) {
                return false;
            }
        }
    }
    return true;
};

foreach ($children as [, , $child]) {
    $child->hear();
}
$start = now();
foreach ($children as [, , $child]) {
    $child->say('go');
}
$last = now();
$longest = 0;
for ($part = 1; $part <= 4; $part++) { // output tells run-tests.php that the test is alive
    while (now() < $start + $part * $seconds / 4) {
        if (!$look('in part ' . $part)) {
            printf("(from one look to the next the test itself took up to %.2f s)\n", max($longest, now() - $last));
            exit;
        }
        $longest = max($longest, now() - $last);
        $last = now();
        nap(0.2);
    }
    echo "part $part\n";
}
$least = (int) ($seconds / ($ttl / 3) / 2); // half of the renewals that are due: the machine may be busy
foreach ($children as $name => [$locks, , $child]) {
    [$states, $remaining, $renewals] = $child->hear(60);
    same(['acquired' => 'Held', 'explicit' => 'Held'], $states, "$name: states at the end");
    within(0.001, $remaining, $ttl, "$name: remaining() at the end");
    within(($locks->hasLock() ? 3 : 2) * $least, $renewals, 100 * $seconds, "$name: renewals");
    $look('at the end') || exit;
}
foreach ($children as $name => [$locks, $resource, $child]) {
    $child->say('release');
    $released = $child->result();
    same([true], array_values(array_unique($released)), "$name: release()");
    foreach ($released as $kind => $true) {
        // The release may reach RedLock's minority after the answer.
        wait_for(fn () => array_filter(values_of($locks, "$resource-$kind")) === [], $ttl / 2, "$name, $kind: the release");
    }
}
echo "done\n";
?>
--EXPECT--
part 1
part 2
part 3
part 4
done
