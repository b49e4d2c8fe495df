--TEST--
ZkLock: lock, release, unlock, acquire, tryAcquire, synchronized, isLocked; its nodes, token and fencing token
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$zk = zk_raw();
$lock = new ZkLock(zk_hosts());
$resource = unique('plain');

// ---- lock(), release(), isLocked() ----
same(false, $lock->isLocked($resource), 'isLocked() of what was never locked');
same(null, $zk->exists("/locks/$resource"), 'the node after isLocked()');
same(false, $lock->release($resource), 'release() of what was never locked');
same(true, $lock->lock($resource), 'lock()');
same(true, $lock->isLocked($resource), 'isLocked()');
same(true, (new ZkLock(zk_hosts()))->isLocked($resource), 'isLocked() of another object');
same(false, $lock->lock($resource, 0), 'lock() of what is held by this object');
same(false, (new ZkLock(zk_hosts()))->lock($resource, 0), 'lock() of what is held by another object');
fails('Dlock\DeadlockException', "*\"$resource\"*", fn () => $lock->lock($resource, 0.05), 'a wait for what is held by this object');
fails('Dlock\DeadlockException', "*\"$resource\"*", fn () => (new ZkLock(zk_hosts()))->lock($resource, 0.05), 'a wait for what is held by another object');
same(false, fork_child(fn () => (new ZkLock(zk_hosts()))->lock($resource, 0.05))->result(), 'a wait of another process');
same(false, (new ZkLock(zk_hosts()))->release($resource), 'release() by another object');
same(true, $lock->isLocked($resource), 'isLocked() after these');
same(true, fork_child(fn () => (new ZkLock(zk_hosts()))->isLocked($resource))->result(), 'isLocked() in another process');
same(true, $lock->release($resource), 'release()');
same(false, $lock->release($resource), 'a second release()');
same(false, $lock->isLocked($resource), 'isLocked() after release()');
same([true, true, false], [$lock->lock($resource, 0), $lock->unlock($resource), $lock->unlock($resource)], 'unlock()');
same([true, true], [$lock->lock($resource, 0), $lock->release($resource)], 'lock() again');

// ---- the nodes ----
$lease = $lock->acquire($resource, 0);
$nodes = zk_nodes($zk, $resource);
same(1, count($nodes), 'nodes of one holder');
holds(preg_match('/^_c_([0-9a-f]{32,})-lock-\d{10}$/D', $nodes[0], $found) === 1, 'the form of the name', $nodes[0]);
same($lease->token, $found[1] ?? '', 'the token is the guid in the name');
$stat = $zk->exists("/locks/$resource/$nodes[0]");
same($lease->fencingToken, $stat['czxid'], 'the fencing token is the czxid');
holds($stat['ephemeralOwner'] > 0, 'the node is ephemeral');
same([0, 0], [$zk->exists("/locks/$resource")['ephemeralOwner'], $zk->exists('/locks')['ephemeralOwner']], 'owners of the parent and the root');
$other = (new ZkLock(zk_hosts()))->acquire(unique('other'), 0);
same($stat['ephemeralOwner'], zk_owner($zk, unique('other')), 'the session of another lock and object of the process');
same(1, Dlock\stats()['sessions'], 'sessions of the process');
$longer = (new ZkLock(zk_hosts(), sessionTimeout: 11))->acquire(unique('longer'), 0);
holds(!in_array(zk_owner($zk, unique('longer')), [0, $stat['ephemeralOwner']], true), 'another session timeout is another session');

// ---- the lease ----
same($resource, $lease->resource, 'its resource');
same(Dlock\LeaseState::Held, $lease->state(), 'state()');
within(0.001, $lease->remaining(), 10, 'remaining()');
same(null, $lease->assertHeld(), 'assertHeld()');
same(null, $lease->refresh(), 'refresh()');
fails('ValueError', '*#1 ($ttl) must be null*session*', fn () => $lease->refresh(5.0), 'refresh(5.0)');
same(null, $lock->tryAcquire($resource), 'tryAcquire() of what is held');
fails('Dlock\AcquireTimeoutException', "*\"$resource\" was not free within *", fn () => $lock->acquire($resource, 0), 'acquire() without a wait');
// A wait for a holder in this process would never end; in another process the time limit applies.
$waits = [
    'tryAcquire()' => fn () => $lock->tryAcquire($resource, 0.05),
    'acquire()' => fn () => $lock->acquire($resource, 0.05),
    "the object's timeout" => fn () => (new ZkLock(zk_hosts(), timeout: 0.05))->acquire($resource),
    'synchronized()' => fn () => $lock->synchronized($resource, fn () => print("no\n"), 0.05),
];
foreach ($waits as $what => $wait) {
    fails('Dlock\DeadlockException', "*\"$resource\"*", $wait, $what);
}
foreach ($waits as $what => $wait) {
    $e = fork_child(fn () => ($e = thrown_by($wait)) ? [$e::class, str_contains($e->getMessage(), "\"$resource\" was not free within ")] : null)->result();
    same($what === 'tryAcquire()' ? null : ['Dlock\AcquireTimeoutException', true], $e, "$what in another process");
}
same(true, $lease->release(), 'release()');
same([false, false, 0.0, Dlock\LeaseState::Released], [$lease->release(), $lease->isHeld(), $lease->remaining(), $lease->state()], 'after release()');
fails('Dlock\LeaseLostException', '*has been released or detached', fn () => $lease->assertHeld());
fails('Dlock\LeaseLostException', '*has been released or detached', fn () => $lease->refresh());

// A lease that goes out of scope is released.
$lease = $lock->tryAcquire($resource);
holds($lease?->isHeld() === true, 'tryAcquire()');
unset($lease);
wait_for_nodes($zk, 0, $resource);

// ---- synchronized() ----
$section = function (Dlock\Lease $lease) use ($zk, $resource) {
    holds($lease->isHeld() && str_contains(zk_nodes($zk, $resource)[0], $lease->token), 'held inside the section');
    return 42;
};
same(42, $lock->synchronized($resource, $section), 'the result of synchronized()');
same([], zk_nodes($zk, $resource), 'nodes after synchronized()');
fails('LogicException', 'of the section', fn () => $lock->synchronized($resource, fn () => throw new LogicException('of the section')));
same([], zk_nodes($zk, $resource), 'nodes after an exception');

// ---- fencing tokens rise, over sessions and processes, even if the container was deleted in between ----
$tokens = [];
for ($i = 0; $i < 5; $i++) {
    $tokens[] = $lock->acquire($resource, 10)->fencingToken;
    $tokens[] = fork_child(fn () => (new ZkLock(zk_hosts()))->acquire($resource, 10)->fencingToken)->result();
}
wait_for_nodes($zk, 0, $resource);
wait_for(fn () => $zk->exists("/locks/$resource") === null, 60, 'the end of the container');
same(false, $lock->isLocked($resource), 'isLocked() without a container');
$lease = $lock->acquire($resource, 0);
$tokens[] = $lease->fencingToken;
$rising = $tokens;
sort($rising);
same($rising, $tokens, 'fencing tokens in order');
same(11, count(array_unique($tokens)), 'different fencing tokens');
same('0000000000', substr(zk_nodes($zk, $resource)[0], -10), 'the number in the node of a new container');
echo "done\n";
?>
--EXPECT--
done
