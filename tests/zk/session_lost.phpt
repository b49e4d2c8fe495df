--TEST--
ZkLock: leases are lost at once with their expired session; a session that survived a restart keeps them
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$server = zk_private();
$timeout = 50.0; // so that the loss is not found by the clock
$relay = relay($server->hosts());
$lock = new ZkLock($relay->address(), sessionTimeout: $timeout);
$resource = unique();
$lease = $lock->acquire($resource, 0);
same(true, $lock->lock("$resource-2", 0), 'lock()');
$owner = zk_owner($server->raw(), $resource);

// The server is killed, and returns with its data.
$server->kill();
$states = [];
wait_for(function () use ($lease, &$states) {
    return $lease->state() === Dlock\LeaseState::Uncertain;
}, 60, 'Uncertain');
same(true, $lease->isHeld(), 'isHeld() while Uncertain');
$server->restart();
wait_for(fn () => $lease->state() !== Dlock\LeaseState::Uncertain, 60, 'the session to come over');
same(Dlock\LeaseState::Held, $lease->state(), 'state() after a restart');
same($owner, zk_owner($server->raw(), $resource), 'the session after a restart');
$lease->refresh();
same(false, $lock->lock($resource, 0), 'still locked');

// The server returns, and does not know the session.
$start = now();
fails('Dlock\LeaseLostException', '*lost before its critical section ended*', fn () => $lock->synchronized("$resource-3",
    function (Dlock\Lease $inner) use ($server, $relay, $lease, $start, $timeout) {
        $server->forget($relay);
        wait_for(fn () => !$inner->isHeld(), 60, 'the loss');
        holds(now() - $start < $timeout, 'lost before the timeout');
        same([Dlock\LeaseState::Lost, Dlock\LeaseState::Lost, 0.0], [$inner->state(), $lease->state(), $lease->remaining()], 'all leases of the session');
    }));
same([false, false], [$lease->release(), $lock->release("$resource-2")], 'release() of what was lost');
fails('Dlock\LeaseLostException', '*was lost*', fn () => $lease->assertHeld());

// A new session; the section's own exception is the previous exception of the loss.
same(true, $lock->lock($resource, 20), 'lock() in a new session');
holds(!in_array(zk_owner($server->raw(), $resource), [0, $owner], true), 'it is a new one');
same(2, Dlock\stats()['sessions'], 'sessions');
$e = thrown_by(fn () => $lock->synchronized("$resource-3", function (Dlock\Lease $inner) use ($server, $relay) {
    $server->forget($relay);
    wait_for(fn () => !$inner->isHeld(), 60, 'the loss');
    throw new LogicException('of the section');
}));
same(['Dlock\LeaseLostException', 'LogicException'], [$e ? $e::class : null, $e?->getPrevious() ? $e->getPrevious()::class : null], 'what was thrown');
same(false, $lock->release($resource), 'release() after the second loss');
echo "done\n";
?>
--EXPECT--
done
