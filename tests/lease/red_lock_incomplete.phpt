--TEST--
RedLock soon writes a lock to the server that refused it, renewed or not, so that no other server is indispensable
--INI--
; Of servers that have just been started all have to say yes; here a majority is enough.
dlock.restart_guard=0
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseState;

$locks = private_locks('RedLock', 3);
// The first server answers last: the client knows of the third one's refusal when it acquires the lock.
$relay = relay($locks->addresses[0], 0.02);
$behind = new Locks('RedLock', [$relay->address(), ...array_slice($locks->addresses, 1)]);
$manager = $behind->manager(ttl: 120.0);
$other = $locks->manager(ttl: 120.0);

// ---- a lock that is released before the thread looks needs no connection of its own ----
for ($i = 0; $i < 50; $i++) {
    $lock = $other->lock("complete-$i", 10_000);
    $other->unlock($lock);
    $other->acquire("complete-$i", 0, 10.0)->release();
}
same(3, Dlock\stats()['connections'], 'connections, with locks that no server has refused');

// ---- a lock that one server refused ----
/** Acquires in that way while the last server has the lock for another client. */
$acquire = function (string $resource, string $way) use ($locks, $manager) {
    $locks->raw()[2]->cmd('SET', Locks::key($resource), 'somebody-else', 'PX', 60_000);
    return match ($way) {
        'renewed' => $manager->acquire($resource, 0),
        'with a ttl' => $manager->acquire($resource, 0, 120.0),
        'lock()' => $manager->lock($resource, 120_000),
    };
};
foreach (['with a ttl', 'lock()', 'renewed'] as $way) {
    $before = Dlock\stats();
    $start = now();
    $lease = $acquire($way, $way);
    $token = is_array($lease) ? $lease['token'] : $lease->token;
    same([$token, $token, 'somebody-else'], values_of($locks, $way), "$way: acquired");
    same(2, threads(), "$way: threads");
    // A third of the lease time would be 40 s.
    take_away($locks, $way, 'delete', [2]);
    wait_for(fn () => values_of($locks, $way)[2] === $token, 35, "$way: the third server to have it");
    $left = (int) ceil(120_000 - (now() - $start) * 1000);
    if ($way !== 'renewed') {
        holds(times_of($locks, $way)[2] <= $left + 50, "$way: the third server does not have it for longer than the lease", times_of($locks, $way), $left);
        same(0, Dlock\stats()['renewals'] - $before['renewals'], "$way: renewals");
        is_array($lease) || within(0, $lease->remaining() * 1000, $left, "$way: remaining()");
    }
    take_away($locks, $way, 'delete', [0]);
    same(null, $other->tryAcquire($way), "$way: one server forgets it, and nobody else gets it");
    if ($way === 'with a ttl') { // no DeadlockException: the lease ends by itself
        fails('Dlock\AcquireTimeoutException', '*', fn () => $other->acquire($way, 0.1));
    }
    is_array($lease) || same(LeaseState::Held, $lease->state(), "$way: state()");
    same(true, is_array($lease) ? $manager->unlock($lease) : $lease->release(), "$way: released");
    wait_for(fn () => array_filter(values_of($locks, $way)) === [], 60, "$way: the release, everywhere");
}

// ---- a repaired lease is not renewed for that reason, also after a handover ----
$locks->raw()[2]->cmd('SET', Locks::key('handed'), 'somebody-else', 'PX', 100);
$lease = $manager->acquire('handed', 0, 5.0);
wait_for(fn () => values_of($locks, 'handed')[2] === $lease->token, 60, 'the third server to have it');
nap(0.3); // by now the renewal thread has read that answer: detach() rolls back a repair that is under way
$lease = $manager->attach($lease->detach());
same(true, $lease->isHeld(), 'attached');
wait_for(fn () => !$lease->isHeld(), 60, 'the end of what is not renewed');
echo "done\n";
?>
--EXPECT--
done
