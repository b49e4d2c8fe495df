--TEST--
Databases: the life of a lock by lock() and by leases, and what the database has of it meanwhile
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

foreach (private_databases() as $kind => $server) {
    $left = fn (string $name) => $server->grant($name)['left'];

    // ---- the guard is the longest lease time ----
    fails(ValueError::class, '*must be *10*guard*', fn () => (new DistributedLock($server->dsn()))->acquire('r', 0, 11), $kind);
    [$short, $longer] = array_map(fn ($ttl) => new DistributedLock($server->dsn("create=1&guard=$ttl"), ttl: $ttl, reentrant: true), [10, 50]);
    $leases = [$short->acquire('again', 0), $longer->acquire('again', 0), $longer->acquire('again', 0, 45)];
    within(0, $left('Lock:again'), $server->guard(), "$kind: no longer than the guard that was announced");
    within(0, $leases[1]->remaining(), 10, "$kind: nor does the holder rely on it for longer");
    $leases = null;
    same([true, true], [$short->lock('again', 0), $longer->lock('again', 0)], "$kind: by lock()");
    fails(ValueError::class, '*must be *10 seconds*guard*', fn () => $longer->expire('again', 45), "$kind: expire()");
    same([true, true, 10], [$short->release('again'), $longer->release('again'), $server->guard()], "$kind: released");
    $long = new DistributedLock($server->dsn('guard=100'), ttl: 60);
    same(true, $long->lock('long', 0), "$kind: a longer guard");
    within(10, $left('Lock:long'), 60, "$kind: a longer lease");

    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    [$one, $other] = [new DistributedLock($dsn, ttl: 100), new DistributedLock($dsn, ttl: 100)];

    // ---- lock() and its like ----
    $inherited = fn () => substr_count((string) shell_exec('ls -l /proc/self/fd'), 'socket:');
    $sockets = $inherited();
    same(true, $one->lock('r', 0), "$kind: lock()");
    same($sockets, $inherited(), "$kind: sockets of a program that PHP starts");
    holds((bool) preg_match('/^[0-9a-f]{44}$/', (string) $server->token('Lock:r')), "$kind: the row has the owner's token");
    within(0, $left('Lock:r'), 100, "$kind: the time that is left");
    same([true, true, false], [$one->isLocking('r'), $one->isLocked('r'), $one->isLocked('s')], "$kind: isLocking(), isLocked()");
    same(false, $one->lock('r', 0), "$kind: lock() again: it is not reentrant");
    same([false, false, false], [$other->lock('r', 0), $other->isLocking('r'), $other->release('r')], "$kind: another object");
    fails(DeadlockException::class, 'This process holds the lock "r" already, and would wait for itself', fn () => $other->lock('r', 10));
    same(true, $one->expire('r', 90), "$kind: expire()");
    within(0, $left('Lock:r'), 90, "$kind: the time that is left after expire()");
    same([false, false], [$other->expire('r', 90), $one->expire('s', 90)], "$kind: expire() of what is not held");
    same([true, null], [$one->release('r'), $server->token('Lock:r')], "$kind: release()");
    same([false, false, false], [$one->release('r'), $one->isLocking('r'), $one->isLocked('r')], "$kind: after release()");
    same([true, true], [$other->lock('r', 0, 80), $other->unlock('r')], "$kind: lock() with a lease time, unlock()");
    same([true, true, true], [$one->lock('a', 0), $one->lock('b', 0, 80), $one->unlockAll()], "$kind: two locks, unlockAll()");
    same([null, null], [$server->token('Lock:a'), $server->token('Lock:b')], "$kind: after unlockAll()");

    // ---- leases ----
    $lease = $one->acquire('r', 0, 100);
    same([Lease::class, 'r', $server->token('Lock:r'), $server->grant('Lock:r')['fence'], 1],
        [$lease::class, $lease->resource, $lease->token, $lease->fencingToken, $lease->permits], "$kind: a lease");
    same([LeaseState::Held, true, null], [$lease->state(), $lease->isHeld(), $lease->assertHeld()], "$kind: while it is held");
    within(1, $lease->remaining(), 100 - 1, "$kind: remaining()");
    same(null, $other->tryAcquire('r'), "$kind: tryAcquire() of what is held");
    fails(AcquireTimeoutException::class, 'The lock "r" was not free within 0 s', fn () => $other->acquire('r', 0));
    $lease->refresh(50);
    within(0, $left('Lock:r'), 50, "$kind: the time that is left after refresh(50)");
    within(0, $lease->remaining(), 50, "$kind: remaining() after refresh(50)");
    $lease->refresh();
    within(0, $lease->remaining(), 50, "$kind: remaining() after refresh()");
    same([true, LeaseState::Released, false, 0.0, false],
        [$lease->release(), $lease->state(), $lease->isHeld(), $lease->remaining(), $lease->release()], "$kind: release()");
    fails(LeaseLostException::class, 'The lock "r" has been released or detached', $lease->refresh(...));
    (function () use ($one) {
        $lease = $one->acquire('scope', 0, 100);
    })();
    wait_for(fn () => $server->token('Lock:scope') === null, 60, 'the end of a lease out of scope');

    // ---- what an operator sees ----
    $lease = $one->acquire('seen', 0, 90);
    $waiter = fork_child(fn () => (new DistributedLock($dsn))->tryAcquire('seen', 60)?->release(), [], 'kill');
    $seen = wait_for(fn () => ($i = $other->inspect('seen'))->waiters !== [] ? $i : null, 60, 'the waiter to be seen');
    same([$lease->fencingToken, getmypid(), 1, $waiter->pid], [$seen->holders[0]->fencingToken, $seen->holders[0]->pid, count($seen->waiters), $seen->waiters[0]->pid],
        "$kind: inspect()");
    within(1, $seen->holders[0]->remaining, 90, "$kind: the time that it shows");
    same([true, true], [$lease->release(), $waiter->result()], "$kind: after inspect()");

    // The holder stores its label with the first renewal, a waiter when it waits.
    Dlock\setLabel('order 42 äß');
    $lease = (new DistributedLock($dsn, ttl: 10))->acquire('told');
    $waiter = fork_child(fn () => [Dlock\setLabel("next's"), (new DistributedLock($dsn))->tryAcquire('told', 300)?->release()][1], [], 'kill');
    $seen = wait_for(fn () => ($i = $other->inspect('told'))->waiters !== [] && $i->holders[0]->label !== null ? $i : null, 60, "$kind: the holder's label");
    same([['order 42 äß', gethostname()], ["next's", gethostname()]],
        array_map(fn ($party) => [$party->label, $party->host], [$seen->holders[0], $seen->waiters[0]]), "$kind: labels and hosts");
    within(0, $seen->at - $seen->holders[0]->heldSince, 600, "$kind: held since");
    $lease->release();
    same(true, $waiter->result(), "$kind: its release()");
    Dlock\setLabel(null);
    $lease = $one->acquire('broken', 0, 90);
    same(null, Dlock\break_lock($other, 'broken', str_repeat('0', 24), 'tests'), "$kind: a break of another holder");
    $id = $other->inspect('broken')->holders[0]->id;
    within(0, Dlock\break_lock($other, 'broken', $id, 'tests'), 90, "$kind: the seconds until a lock that was broken is free");
    fails(LeaseLostException::class, 'The lock "broken" was lost*', fn () => $lease->refresh(), "$kind: the holder of a lock that was broken");
    same([0.0, true], [Dlock\break_lock($other, 'broken', $id, 'tests', true), $other->lock('broken', 0)], "$kind: broken at once");
    $none = $other->inspect('nobody');
    same([[], []], [$none->holders, $none->waiters], "$kind: inspect() of what nobody has");

    // ---- synchronized() ----
    same(['result', true], $one->synchronized('r', fn (Lease $lease) => ['result', $server->token('Lock:r') === $lease->token]), "$kind: synchronized()");
    fails(DomainException::class, 'of the section', fn () => $one->synchronized('r', fn () => throw new DomainException('of the section')));
    same(null, $server->token('Lock:r'), "$kind: after a section that threw");

    // ---- fencing tokens ----
    $last = 0;
    for ($i = 0; $i < 50; $i++) {
        $lease = ($i % 2 ? $one : $other)->acquire('fence', 0);
        holds($lease->fencingToken > $last, "$kind: fencing tokens rise", $last, $lease->fencingToken);
        $last = $lease->fencingToken;
        $lease->release();
    }

    // ---- leases that expire ----
    $lease = $one->acquire('short', 30, 1);
    wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
    same([LeaseState::Lost, 0.0], [$lease->state(), $lease->remaining()], "$kind: after the lease");
    fails(LeaseLostException::class, 'The lock "short" was lost', $lease->assertHeld(...));
    wait_for(fn () => !$one->isLocked('short'), 60, 'the end of the row');
    same([false, true], [$lease->release(), $other->lock('short', 0)], "$kind: release() of what was lost");
    same(LeaseLostException::class, get_debug_type(thrown_by(function () use ($dsn, $server) {
        $lease = (new DistributedLock($dsn, ttl: 3, onLoss: 'throw'))->acquire('thrown');
        $server->takeAway('Lock:thrown');
        wait_for(fn () => false, 60, 'the loss');
    })), "$kind: onLoss: \"throw\"");

    // ---- names: any bytes, each name has a row of its own ----
    $plain = new DistributedLock($dsn, '');
    $held = [];
    $names = ['a', 'A', 'a ', ' a', "a\0", "\0", "a'b", 'a"b', 'a\\', 'ä', "\xff\xfe", '锁', '%', '_', "'; DROP TABLE x; --"];
    foreach ([190, 221, 222, 223, 254, 255, 256, 1024] as $length) {
        array_push($names, str_repeat('x', $length), str_repeat('x', $length - 1) . 'y');
    }
    foreach ($names as $i => $name) {
        $held[$i] = $plain->tryAcquire($name, 0, 200) ?? print("$kind: name $i shares a row\n");
        same([null, true], [(new DistributedLock($dsn, ''))->tryAcquire($name), $plain->isLocked($name)], "$kind: name $i");
    }
    foreach ($held as $i => $lease) {
        $server->assertBytes($names[$i], $lease->fencingToken);
        same([true, false], [$lease->release(), $plain->isLocked($names[$i])], "$kind: name $i, released");
    }
}
echo "done\n";
?>
--EXPECT--
done
