--TEST--
Semaphores and read/write locks in a cluster and behind Sentinels: one key for each resource; waiting, handover, attach() and fork as on one server; a failover if replicas acknowledge
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';
require __DIR__ . '/../inc/replicated.inc';

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

foreach (['cluster' => new ClusterSet(3, 0, timeout: 60_000), 'Sentinels' => new SentinelSet(0, downAfter: 60_000)] as $name => $set) {
    $dsn = $set->dsn(['replicas' => 0]);
    // Each resource is in one hash slot; the resources are in many slots.
    for ($i = 0; $i < 12; $i++) {
        $resource = "$name-$i";
        $semaphore = new Semaphore(3, $dsn);
        $held = $semaphore->acquire($resource, 2, ttl: 100);
        $child = fork_child(function (callable $say, callable $hear) use ($semaphore, $resource) {
            $say('waits');
            $lease = $semaphore->acquire($resource, 3, 30, 100);
            $say([$lease->permits, $lease->fencingToken]);
            return $semaphore->attach($lease->detach())->release();
        });
        same('waits', $child->hear(), "$resource: a child");
        $master = $name === 'cluster' ? $set->masterOf(key_slot("Semaphore:$resource")) : $set->master();
        wait_for(fn () => counts_of("Semaphore:$resource", 3, $master->raw())['waiting'] === 1, 60, 'the waiter');
        same([$held->isHeld(), true], [true, $held->release()], "$resource: release()");
        [$permits, $fence] = $child->hear();
        same([3, true, true], [$permits, $fence > $held->fencingToken, $child->result()], "$resource: the child");
        same(3, $semaphore->availablePermits($resource), "$resource: in the end");

        $lock = new ReadWriteLock($dsn);
        $readers = [$lock->readLock()->acquire($resource, ttl: 100), $lock->readLock()->acquire($resource, ttl: 100)];
        same([null, true, true, true], [$lock->writeLock()->tryAcquire($resource), $readers[0]->release(), $readers[1]->release(),
            $lock->writeLock()->acquire($resource)->release()], "$resource: a read/write lock");
    }
    $keys = array_merge(...array_map(fn ($server) => $server->raw()->cmd('KEYS', '*'), $set->masters()));
    sort($keys);
    $expected = [];
    for ($i = 0; $i < 12; $i++) {
        array_push($expected, "ReadWriteLock:$name-$i", "Semaphore:$name-$i");
    }
    sort($expected);
    same($expected, array_values(array_filter($keys, fn ($key) => !str_starts_with($key, 'sentinel'))), "$name: keys");
}

// ---- if replicas acknowledge, a failover grants no permit twice ----
$set = new SentinelSet(1, downAfter: 60_000);
$dsn = $set->dsn(['guard' => 30]);
$semaphore = new Semaphore(3, $dsn, ttl: 30.0);
$lock = new ReadWriteLock($dsn, ttl: 30.0);
$none = '* was promoted, restarted or set up, * no lock is granted for another *';
fails(Dlock\AcquireTimeoutException::class, "Could not acquire 2 of the 3 permits of the semaphore \"sale\" within 0.1 s: $none", fn () => $semaphore->acquire('sale', 2, 0.1));
fails(Dlock\AcquireTimeoutException::class, "The lock \"prices\" was not granted within 0.1 s: $none", fn () => $lock->writeLock()->acquire('prices', 0.1));
$held = [$semaphore->acquire('sale', 2, 30), $lock->readLock()->acquire('prices', 120), $lock->readLock()->acquire('prices', 120)];
same([1, null, 2], [$semaphore->availablePermits('sale'), $semaphore->tryAcquire('sale', 2), $held[0]->permits], 'before the fail-over');
$set->failOver();
$others = fork_child(function () use ($dsn) { // a client that asks all the time
    $semaphore = new Semaphore(3, $dsn, ttl: 30.0);
    $writer = (new ReadWriteLock($dsn, ttl: 30.0))->writeLock();
    for ($until = now() + 5, $got = []; now() < $until;) {
        try {
            $semaphore->tryAcquire('sale', 2, 0.1)?->isHeld() && $got[] = 'two of three';
            $writer->tryAcquire('prices', 0.1)?->isHeld() && $got[] = 'a writer';
        } catch (Dlock\ConnectionException) {
        }
    }
    return array_unique($got);
});
same([], $others->result(), 'what others got meanwhile');
same([true, true, true], array_map(fn ($lease) => $lease->isHeld(), $held), 'what is held after the fail-over');
same(1, $semaphore->acquire('sale', 1, 120)->permits, 'the third permit');
same([true, true, true], array_map(fn ($lease) => $lease->release(), $held), 'release()');
same([true, true], [$semaphore->acquire('sale', 3, 120)->release(), $lock->writeLock()->acquire('prices', 120)->release()], 'in the end');
echo "done\n";
?>
--EXPECT--
done
