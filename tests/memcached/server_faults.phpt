--TEST--
memcached: a server is killed, stands still, or restarts: what calls report and how long they take, and what happens to leases
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\ConnectionException;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

$server = new PrivateMemcached();
$address = $server->address();
$make = fn (mixed ...$options) => new DistributedLock($server->dsn('?connect_timeout=60&read_timeout=60'), ...$options);
$hasty = new DistributedLock($server->dsn('?connect_timeout=60&read_timeout=0.3'));
$calls = fn (DistributedLock $lock) => [
    'lock()' => fn () => $lock->lock('other', 0),
    'lock() with a timeout' => fn () => $lock->lock('other', 60),
    'acquire()' => fn () => $lock->acquire('other', 60),
    'tryAcquire()' => fn () => $lock->tryAcquire('other'),
    'synchronized()' => fn () => $lock->synchronized('other', fn () => print("entered\n"), 60),
    'isLocked()' => fn () => $lock->isLocked('other'),
];

// ---- no server from the beginning ----
$closed = closed_port();
foreach ($calls(new DistributedLock("memcached://127.0.0.1:$closed")) as $call => $do) {
    fails(ConnectionException::class, "memcached at 127.0.0.1:$closed: Connection refused", $do, $call);
}

// ---- killed ----
$lock = $make();
$lease = $lock->acquire('r', 0, 100);
$lock->lock('s', 0, 100);
$server->kill();
foreach ($calls($lock) as $call => $do) {
    fails(ConnectionException::class, "memcached at $address: *", $do, "killed, $call");
}
fails(ConnectionException::class, "memcached at $address: *", $lease->refresh(...), 'killed, refresh()');
same([true, LeaseState::Uncertain], [$lease->isHeld(), $lease->state()], 'killed: the lease goes on as it was');
fails(ConnectionException::class, "memcached at $address: *", $lease->release(...), 'killed, release()');
same([false, 0.0], [$lease->isHeld(), $lease->remaining()], 'killed: after release()');
fails(ConnectionException::class, "memcached at $address: *", fn () => $lock->isLocking('s'), 'killed, isLocking()');
fails(ConnectionException::class, "memcached at $address: *", fn () => $lock->release('s'), 'killed, release() of lock()');

// ---- restarted: it has forgotten ----
$lease = null;
$server->restart();
same([true, true], [$lock->lock('s', 0), $lock->release('s')], 'after a restart');
$lease = $lock->acquire('r', 0, 100);
$server->restart();
same([true, false], [$lease->isHeld(), $lock->isLocked('r')], 'a restart gives locks away');
fails(LeaseLostException::class, 'The lock "r" was lost*', $lease->refresh(...), 'refresh() after a restart');
$renewed = $make(ttl: MEMCACHED_TTL)->acquire('renewed', 0);
$server->restart();
$theirs = $make()->acquire('renewed', 0, 100);
wait_for(fn () => !$renewed->isHeld(), 60, 'the renewal to tell of a restart');
same([false, true], [$renewed->release(), $theirs->release()], 'release() after a restart');
// CAS numbers start again: one from before the restart may belong to another key now.
for ($i = 0; $i < 5; $i++) {
    $lease = $lock->acquire("again-$i", 0, 100);
    $server->restart();
    $theirs = $make()->acquire("again-$i", 0, 100);
    same([false, $theirs->token], [$lease->release(), $server->raw()->get("Lock:again-$i")], "release() of what somebody else took after restart $i");
    $theirs->release();
}

// ---- stands still ----
$lease = wait_for(function () use ($hasty) { // an answer may be late
    try {
        return $hasty->tryAcquire('r', 0, 100);
    } catch (ConnectionException) {
        return null;
    }
}, 60, 'a lease');
$server->pause();
foreach ($calls($hasty) as $call => $do) {
    within(0.2, seconds(fn () => fails(ConnectionException::class, "memcached at $address: no answer within 0.3 s", $do, "stands still, $call")), SOON, "stands still, $call: seconds");
}
fails(ConnectionException::class, "memcached at $address: no answer within 0.3 s", $lease->refresh(...), 'stands still, refresh()');
same([true, LeaseState::Uncertain], [$lease->isHeld(), $lease->state()], 'stands still: the lease');
$server->resume();
wait_for(fn () => thrown_by($lease->refresh(...)) === null, 60, 'an answer');
same([true, LeaseState::Held], [$lease->isHeld(), $lease->state()], 'it goes on: the lease');
wait_for(fn () => thrown_by($lease->release(...)) === null && $server->raw()->get('Lock:r') === null, 60, 'it goes on: release()');
// The client releases what it requested without an answer.
wait_for(fn () => $make()->tryAcquire('other', 0, 100)?->release(), 60, 'what was asked in vain to be free');
// A renewed lease outlives a stop that is shorter than its remaining time, but not a longer one.
$lease = (new DistributedLock($server->dsn('?connect_timeout=60&read_timeout=0.3'), ttl: 20))->acquire('stop', 60);
$server->pause();
wait_for(fn () => $lease->state() === LeaseState::Uncertain, 60, 'that the renewal has no answer');
same(true, $lease->isHeld(), 'a short stop: it is held');
$server->resume();
wait_for(fn () => $lease->state() === LeaseState::Held, 60, 'the renewal after a stop');
wait_for(fn () => thrown_by(fn () => $lease->refresh(8)) === null, 60, 'an answer');
$server->pause();
wait_for(fn () => $lease->state() !== LeaseState::Held, 60, 'that the renewal has no answer');
wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
same(LeaseState::Lost, $lease->state(), 'a long stop');
$server->resume();
holds(Dlock\stats()['renewal_failures'] > 0, 'renewal failures');
same(false, $lease->release(), 'release() after a long stop');

// ---- a holder and a waiter during a stop ----
$holder = memcached_holder($server->dsn(), 'wait', 100);
$holder->hear();
$waiter = fork_child(function (callable $say) use ($server) {
    $lock = new DistributedLock($server->dsn('?read_timeout=60'));
    $lock->isLocked('wait');
    $say('waits');
    return $lock->acquire('wait', 60)->release();
});
$waiter->hear();
pause(0.2);
$server->pause();
pause(1.0);
$server->resume();
$holder->say(null);
same([true, true], [$holder->result(), $waiter->result()], 'a stop during a wait');

// ---- an idle connection that the server closes is replaced ----
$idle = new PrivateMemcached(['-o', 'idle_timeout=1']);
$lock = new DistributedLock($idle->dsn());
$before = Dlock\stats();
same([true, true], [$lock->lock('idle', 0, 100), $lock->isLocking('idle')], 'before the server closes the connection');
wait_for(fn () => (int) $idle->raw()->stats()['idle_kicks'] > 0, 60, 'the server to close the connection');
same(true, $lock->release('idle'), 'after the server has closed the connection');
$added = array_map(fn (string $what) => Dlock\stats()[$what] - $before[$what], ['connections', 'reconnections']);
holds($added[0] >= 2 && $added[1] === $added[0] - 1, 'connections, more where a call came late', $added);
echo "done\n";
?>
--EXPECT--
done
