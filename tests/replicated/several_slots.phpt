--TEST--
Several locks in several slots of a cluster: all or none, one token, the earlier ones kept during the wait for a later one, a part lost, a failover
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

$cluster = new ClusterSet(timeout: 60_000);
$names = ['cart', 'seat', 'user'];
$slot = fn (string $name) => key_slot("Lock:$name");
usort($names, fn (string $one, string $other) => $slot($one) <=> $slot($other)); // the order in which they are acquired
[$first, $second, $third] = $names;
$all = $names;
sort($all, SORT_STRING);
same(3, count(array_unique(array_map($slot, $names))), 'slots');
$raw = fn (string $name) => $cluster->masterOf($slot($name))->raw();
$values = fn () => array_map(fn (string $name) => $raw($name)->cmd('GET', "Lock:$name"), $names);
$free = [null, null, null];

foreach (['acknowledged' => ['guard' => 10], 'no acknowledgement' => ['replicas' => 0]] as $what => $options) {
    $locks = new DistributedLock($cluster->dsn($options), ttl: 10, renew: true);

    // ---- free ----
    $lease = $locks->acquire($names, timeout: 120);
    same([$all, array_fill(0, 3, $lease->token)], [$lease->resources, $values()], "$what: all are held");
    same(array_fill(0, 3, substr($lease->token, 0, 24)), array_map(fn (string $name) => $locks->inspect($name)->holders[0]->id, $names), "$what: by one");
    $lease->refresh();
    same([null, $lease->token], [$locks->tryAcquire([$first, 'other']), $values()[0]], "$what: one is taken");
    same(false, $locks->isLocked('other'), "$what: the other one is given back");
    fails(Dlock\DlockException::class, 'A lease on several slots of a cluster cannot be handed over*', fn () => $lease->detach());
    same([true, $free], [$lease->release(), $values()], "$what: release()");
    $tokens = [$lease->fencingToken];
    foreach ([$third, $names, $first, $names, $second, [$second, $third], $names] as $next) {
        $lease = $locks->acquire($next, timeout: 120);
        $tokens[] = $lease->fencingToken;
        $lease->release();
    }
    $sorted = $tokens;
    sort($sorted);
    same($sorted, array_values(array_unique($tokens)), "$what: fencing tokens");

    // ---- waiting ----
    $lease = $locks->acquire($second, timeout: 120);
    $brief = fork_child(fn () => (new DistributedLock($cluster->dsn($options), ttl: 10))->tryAcquire($names, 0.05));
    same([null, [null, $lease->token, null]], [$brief->result(), $values()], "$what: its time is over");
    same(0, $locks->inspect($second)->waiting, "$what: it has left the queue");
    $child = fork_child(function () use ($cluster, $options, $names) {
        $own = new DistributedLock($cluster->dsn($options), ttl: 6, renew: true);
        $lease = $own->acquire($names, timeout: 120);
        return [$lease->fencingToken, $lease->token]; // the end of the request releases it
    });
    at_end($child->kill(...));
    $before = ['', 0];
    wait_for(function () use (&$before, $raw, $first) {
        [$token, $left] = $before;
        $before = [$raw($first)->cmd('GET', "Lock:$first"), $raw($first)->cmd('PTTL', "Lock:$first")];
        return $before[0] !== null && $before[0] === $token && $before[1] > $left;
    }, 60, 'the first one to be renewed while the second one is waited for');
    wait_for(fn () => $locks->inspect($second)->waiting === 1, 60, 'the waiter');
    same(null, $values()[2], "$what: the third one is not taken yet");
    $token = $lease->fencingToken;
    same(true, $lease->release(), "$what: a later slot");
    holds($child->result()[0] > $token, "$what: who has waited");
    wait_for(fn () => $values() === $free, 60, 'the end of its request');
}

// ---- acquired again ----
$entered = new DistributedLock($cluster->dsn(['guard' => 10]), ttl: 10, renew: true, reentrant: true);
[$outer, $inner] = [$entered->acquire($names, timeout: 120), $entered->acquire([$third, $first])];
$longer = (new DistributedLock($cluster->dsn(['guard' => 60]), ttl: 50, reentrant: true))->acquire($second);
within(0, $longer->remaining(), 10, 'no longer than the guard of the object that acquired it');
same(true, $longer->release(), 'the one with the longer guard');
same([$outer->fencingToken, true, $inner->token], [$inner->fencingToken, $outer->release(), $values()[1]], 'reentrant');
same([true, $free], [$inner->release(), $values()], 'with the last one');

// ---- a part is lost, so all is lost ----
$locks = new DistributedLock($cluster->dsn(['guard' => 10]), ttl: 10, renew: true);
$lease = $locks->acquire($names, timeout: 120);
$raw($second)->cmd('SET', "Lock:$second", 'another', 'PX', '60000');
fails(Dlock\LeaseLostException::class, '*was lost*', fn () => $lease->refresh());
wait_for(fn () => $values() === [null, 'another', null], 60, 'the rest to be given back');
$raw($second)->cmd('DEL', "Lock:$second");

$brief = new DistributedLock($cluster->dsn(['guard' => 10]), ttl: 3, renew: true);
$lease = $brief->acquire($names, timeout: 120);
$raw($third)->cmd('SET', "Lock:$third", 'another', 'PX', '60000');
wait_for(fn () => !$lease->isHeld(), 60, 'a renewal');
wait_for(fn () => $values() === [null, null, 'another'], 60, 'the rest to be given back by the renewal');
$raw($third)->cmd('DEL', "Lock:$third");

// ---- a failover ----
$lease = $locks->acquire($names, timeout: 120);
$cluster->failOver($cluster->masterOf($slot($second)));
$lease->refresh();
same([true, null], [$lease->isHeld(), $locks->tryAcquire($second)], 'it is kept');
same(true, $lease->release(), 'and given back');
$next = $locks->acquire($names, timeout: 120);
holds($next->fencingToken > $lease->fencingToken, 'the fencing token');
$next->release();
echo "done\n";
?>
--EXPECT--
done
