--TEST--
reentrant: true: a lock that is acquired once more is held since the first acquisition, also for inspections and dlock.max_hold
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$kinds = [
    'DistributedLock' => fn (mixed ...$options) => new DistributedLock(redis_server(), ...$options),
    'RedLock' => fn (mixed ...$options) => new RedLock(redis_servers(3), ...$options),
    'memory' => fn (mixed ...$options) => new DistributedLock('memory://', ...$options),
];

// ---- since when it is held ----
foreach (['DistributedLock', 'RedLock'] as $name) {
    $resource = unique($name);
    [$plain, $throwing] = [$kinds[$name](ttl: 6, reentrant: true), $kinds[$name](ttl: 6, reentrant: true, onLoss: 'throw')];
    $since = fn () => $plain->inspect($resource)->holders[0]?->heldSince;
    $outer = $plain->acquire($resource, 60);
    $first = wait_for($since, 60, "$name: the first renewal");
    $inner = $throwing->acquire($resource, 0);
    $before = Dlock\stats()['renewals'];
    wait_for(fn () => Dlock\stats()['renewals'] > $before, 60, "$name: a renewal");
    same($first, $since(), "$name: since when it is held");
    same([true, true], [$inner->release(), $outer->release()], "$name: released");
}

// ---- dlock.max_hold ----
ini_set('dlock.max_hold', '0.5');
foreach ($kinds as $name => $make) {
    foreach (['flag', 'throw'] as $told) {
        $resource = unique("$name-$told");
        [$locks, $again] = [$make(ttl: 1.5, reentrant: true), $make(ttl: 2, reentrant: true, onLoss: $told)];
        $outer = patiently(fn () => $locks->acquire($resource, 60));
        do {
            $e = thrown_by(fn () => wait_for(fn () => [$again->tryAcquire($resource)?->release(), !$outer->isHeld()][1], 60, "$name, $told: the limit"));
        } while ($e instanceof Dlock\ConnectionException); // a late answer
        same(Dlock\LeaseState::Lost, $outer->state(), "$name, $told: after the limit");
    }
    $resource = unique($name);
    [$locks, $longer] = [$make(ttl: 60, reentrant: true), $make(ttl: 90, reentrant: true)];
    $outer = $locks->acquire($resource, 60);
    nap(0.6);
    $inner = $longer->acquire($resource, 0);
    within(10, $outer->remaining(), 60, "$name: after the limit");
    $asked = $locks->acquire($resource, 0, 300);
    within(200, $outer->remaining(), 300, "$name: a lease time that is asked for counts after the limit, too");
    same([true, true, true], [$asked->release(), $inner->release(), $outer->release()], "$name: released");
}
// expire() ends a renewal; the next one does not begin the time anew.
[$locks, $longer] = [$kinds['DistributedLock'](ttl: 60, reentrant: true), $kinds['DistributedLock'](ttl: 90, reentrant: true)];
same([true, true], [$locks->lock($resource = unique('expire')), $locks->expire($resource, 30)], 'expire()');
nap(0.6);
$inner = $longer->acquire($resource, 0);
within(0, $inner->remaining(), 30, 'after expire() and the limit');
same([true, true], [$inner->release(), $locks->release($resource)], 'expire(): released');
echo "done\n";
?>
--EXPECT--
done
