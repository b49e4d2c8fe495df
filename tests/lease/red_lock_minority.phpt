--TEST--
RedLock repairs a minority that lost the key, which counts from the next renewal on; if a majority lost it, the lock is lost
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseState;

$locks = private_locks('RedLock', 5);
$ttl = 9.0;
$manager = $locks->manager(ttl: $ttl);
/** Each server has the key, and renews it there, twice. */
$kept = function (string $resource, string $token, string $what) use (&$locks, $ttl) {
    wait_for(fn () => array_unique(values_of($locks, $resource)) === [$token], 60, "$what: the key to be on all servers again");
    for ($i = 0; $i < 2; $i++) {
        wait_for(fn () => max(times_of($locks, $resource)) < 850 * $ttl, 60, "$what: time to pass");
        wait_for(fn () => min(times_of($locks, $resource)) > 850 * $ttl, 60, "$what: a renewal on all servers");
        same([$token], array_unique(values_of($locks, $resource)), "$what: on all servers");
    }
};

// ---- deleted on a minority ----
$lease = $manager->acquire('deleted', 0);
$kept('deleted', $lease->token, 'at first');
take_away($locks, 'deleted', 'delete', [0, 3]);
$kept('deleted', $lease->token, 'deleted on two of five');
$lease->refresh(60.0); // no key expires by itself during the release
same([LeaseState::Held, true], [$lease->state(), $lease->release()], 'deleted on two of five');
wait_for(fn () => array_filter(values_of($locks, 'deleted')) === [], 30, 'the release on all of them');

// ---- a server restarts empty ----
$lease = $manager->acquire('restarted', 0);
$fence = max(array_map(fn ($redis) => (int) $redis->cmd('GET', 'dlock:fence'), $locks->raw()));
$locks->servers[1]->restart();
$locks = new Locks('RedLock', $locks->addresses, $locks->servers); // new connections
$kept('restarted', $lease->token, 'restarted');
holds((int) $locks->raw()[1]->cmd('GET', 'dlock:fence') >= $lease->fencingToken, 'the restarted server knows the fencing token',
    $locks->raw()[1]->cmd('GET', 'dlock:fence'), $lease->fencingToken);
same(LeaseState::Held, $lease->state(), 'one was restarted');

// ---- stolen on a minority: RedLock does not overwrite it ----
take_away($locks, 'restarted', 'steal', [4]);
for ($until = now() + $ttl / 2; now() < $until; nap(0.05)) {
    $values = values_of($locks, 'restarted');
    if ($values !== [$lease->token, $lease->token, $lease->token, $lease->token, 'somebody-else']) {
        echo 'stolen on one: ', shown($values), "\n";
        break;
    }
}
$lease->refresh(60.0);
same([LeaseState::Held, true], [$lease->state(), $lease->release()], 'stolen on one');
wait_for(fn () => array_filter(values_of($locks, 'restarted')) === [4 => 'somebody-else'], 30, 'the release on the others');

// ---- a repaired key does not count in that round ----
// Three of five have lost the key at once and did not extend it. So the lease is lost, whatever they have later.
$lease = $manager->acquire('majority', 0);
take_away($locks, 'majority', 'delete', [0, 1, 2]);
$start = now();
holds(busy_until(fn () => !$lease->isHeld(), 60) !== null, 'a majority is gone');
within(0, now() - $start, SOON, 'seconds until it is known');
same([LeaseState::Lost, 0.0], [$lease->state(), $lease->remaining()], 'a majority is gone');
nap(0.5);
same([null, null, null], array_slice(values_of($locks, 'majority'), 0, 3), 'nothing is given back to a majority');
foreach ([3, 4] as $i) {
    $locks->raw()[$i]->cmd('PEXPIRE', Locks::key('majority'), 60_000);
}
same(false, $lease->release(), 'release()');
wait_for(fn () => array_filter(values_of($locks, 'majority')) === [], 30, 'what was left is released all the same');

// ---- one server after the other loses its key: the repaired keys hold the lock ----
$lease = $manager->acquire('turn', 0);
foreach ([0, 1, 2, 3, 4] as $i) {
    take_away($locks, 'turn', 'delete', [$i]);
    wait_for(fn () => values_of($locks, 'turn')[$i] === $lease->token, 60, "server $i");
}
$lease->refresh(60.0);
same([LeaseState::Held, true], [$lease->state(), $lease->release()], 'all of them, one after the other');
wait_for(fn () => array_filter(values_of($locks, 'turn')) === [], 30, 'the release');

// ---- a server that always answers later than the quorum ----
$slow = relay($locks->addresses[4], 0.03);
$behind = new Locks('RedLock', [...array_slice($locks->addresses, 0, 4), $slow->address()]);
$lease = $behind->manager(ttl: $ttl)->acquire('slow', 60);
wait_for(fn () => values_of($locks, 'slow')[4] === $lease->token, 60, 'the slow server');
take_away($locks, 'slow', 'delete', [4]);
wait_for(fn () => values_of($locks, 'slow')[4] === $lease->token, 60, 'the slow server to have the key again');
same(true, $lease->release(), 'release() with a slow server');

// ---- released while a repair is under way: nothing stays behind ----
// The relay stops between the answer of the server without a key and its repair. It forwards the release, which comes
// over an older connection, before the repair.
$relay = relay($locks->addresses[0]);
$behind = new Locks('RedLock', [$relay->address(), ...array_slice($locks->addresses, 1)]);
$asked = fn () => command_counts($locks->raw()[0])['evalsha'] ?? 0;
$long = 15.0;
$lease = $behind->manager(ttl: $long)->acquire('race', 0);
wait_for(fn () => values_of($locks, 'race')[0] === $lease->token, 60, 'the server behind the relay');
$before = $asked();
$locks->servers[1]->pause();
$locks->servers[2]->pause();
take_away($locks, 'race', 'delete', [0]);
wait_for(fn () => $asked() > $before, 60, 'a renewal');
nap(0.2); // for the answer
$relay->cut();
$remaining = $lease->remaining();
$locks->servers[1]->resume();
$locks->servers[2]->resume();
wait_for(fn () => $lease->remaining() > $remaining, 60, 'the end of the renewal');
nap(0.2); // the repair is on its way now
same([null, true], [$locks->raw()[0]->cmd('GET', 'Lock:race'), $lease->release()], 'release() while a key is on its way back');
$relay->mend();
nap(0.5);
wait_for(fn () => array_filter(values_of($locks, 'race')) === [], 10, 'the key, before its time is over');
echo "done\n";
?>
--EXPECT--
done
