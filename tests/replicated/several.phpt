--TEST--
Several locks at once behind Sentinels, with and without acknowledgment, and in one slot of a cluster: waiting, by a handle, after a failover
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/replicated.inc';

/* A waiter acquires all or nothing, in order, and with a greater fencing token. */
function several(string $what, DistributedLock $locks): void
{
    [$a, $b, $c] = ['{row}a', '{row}b', '{row}c'];
    $locked = fn () => array_map($locks->isLocked(...), [$a, $b, $c]);
    $lease = $locks->acquire([$b, $a], timeout: 120);
    same([[$a, $b], [true, true, false]], [$lease->resources, $locked()], "$what: two of three");
    $lease->refresh();
    same([null, null, false], [$locks->tryAcquire($b), $locks->tryAcquire([$b, $c]), $locks->isLocked($c)], "$what: a part of it");

    $waits = fork_child(fn () => $locks->acquire([$c, $b], timeout: 120)->fencingToken);
    at_end($waits->kill(...));
    wait_for(fn () => $locks->inspect($b)->waiting === 1, 60, 'a child that waits');
    same(false, $locks->isLocked($c), "$what: it keeps nothing while it waits");
    same([true, true], [$lease->isHeld(), $lease->release()], "$what: release()");
    $next = $waits->result();
    $one = $locks->acquire($c, timeout: 120);
    same(true, $one->release(), "$what: one of them");
    $last = $locks->acquire([$a, $b, $c], timeout: 120);
    $tokens = [$lease->fencingToken, $next, $one->fencingToken, $last->fencingToken];
    holds($tokens[0] < $next && $next < $tokens[2] && $tokens[2] < $tokens[3], "$what: the fencing tokens", $tokens);

    $copy = $locks->attach($last->detach());
    same([[$a, $b, $c], true, true], [$copy->resources, $copy->isHeld(), $copy->release()], "$what: by a handle");
    same([false, false, false], $locked(), "$what: all are free");
}

$set = new SentinelSet(downAfter: 60_000);
$cluster = new ClusterSet(timeout: 60_000);
$guarded = ['guard' => 10];
$replicated = new DistributedLock($set->dsn($guarded), ttl: 10, renew: true);
$clustered = new DistributedLock($cluster->dsn($guarded), ttl: 10, renew: true);

$unacknowledged = new DistributedLock($set->dsn(['replicas' => 0]), prefix: 'Other:', ttl: 60, renew: true);
several('no acknowledgement', $unacknowledged);
several('Sentinels', $replicated);
several('cluster', $clustered);
$handle = $replicated->acquire(['{x}a', '{y}b'], timeout: 120)->detach();
fails(ValueError::class, '*must be a handle of one lock, or of a back end that has several at once*', fn () => $clustered->attach($handle));
$replicated->attach($handle)->release();

// A failover under a holder, which keeps all, and is told when a part is taken away.
$slot = key_slot('Lock:{row}a');
$held = [$replicated->acquire(['{row}a', '{row}b'], timeout: 120), $clustered->acquire(['{row}a', '{row}b'], timeout: 120)];
$kept = $unacknowledged->acquire(['a', 'b'], timeout: 60);
wait_for(fn () => array_filter($set->replicas(), fn ($server) => $server->raw()->cmd('EXISTS', 'Other:a') === 1) == $set->replicas(), 60, 'replicas to have it');
$set->failOver();
$kept->refresh();
same([true, true], [$kept->isHeld(), $kept->release()], 'no acknowledgement: it is kept');
$cluster->failOver($cluster->masterOf($slot));
foreach (['Sentinels' => $replicated, 'cluster' => $clustered] as $what => $locks) {
    $lease = array_shift($held);
    $lease->refresh();
    same([true, null], [$lease->isHeld(), $locks->tryAcquire('{row}b')], "$what: it is kept");
    $last = $lease->fencingToken;
    same(true, $lease->release(), "$what: and given back");
    $lease = $locks->acquire(['{row}b', '{row}a'], timeout: 120);
    holds($lease->fencingToken > $last, "$what: the fencing token", $last, $lease->fencingToken);
    $master = $locks === $replicated ? $set->master() : $cluster->masterOf($slot);
    $master->raw()->cmd('SET', 'Lock:{row}b', 'another', 'PX', '60000');
    fails(Dlock\LeaseLostException::class, '*was lost*', fn () => $lease->refresh(), $what);
    wait_for(fn () => !$locks->isLocked('{row}a'), 60, 'the rest to be given back');
    same('another', $master->raw()->cmd('GET', 'Lock:{row}b'), "$what: what is another's");
}
echo "done\n";
?>
--EXPECT--
done
