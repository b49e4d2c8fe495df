--TEST--
Semaphore and ReadWriteLock on ZooKeeper: permits, order, the end of holders, fork, loss of the session
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

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LeaseState;
use Dlock\ReadWriteLock;
use Dlock\Semaphore;

$zk = zk_raw();
$server = 'zookeeper://' . zk_hosts() . '/permits';
$semaphore = new Semaphore(10, $server);
$resource = unique();
$nodes = fn (int $n) => wait_for_nodes($zk, $n, "Semaphore:$resource", '/permits');

/** Says "held" when it holds, and releases when it hears anything. */
$waiter = fn (string $server, int $capacity, int $permits) => fork_child(function (callable $say, callable $hear) use ($server, $resource, $capacity, $permits) {
    $lease = (new Semaphore($capacity, $server))->acquire($resource, $permits, 60);
    $say('held');
    $hear();
    return $lease->release();
});

// Never more than the capacity are out at once; a lease acquires all its permits at once, and releases them at once.
$leases = [$semaphore->acquire($resource, 7), $semaphore->acquire($resource), $semaphore->tryAcquire($resource, 2)];
same([7, 1, 2], array_map(fn (Lease $lease) => $lease->permits, $leases), 'permits');
holds($leases[0]->fencingToken < $leases[1]->fencingToken && $leases[1]->fencingToken < $leases[2]->fencingToken, 'fencing tokens rise over all grants');
same([0, null, LeaseState::Held], [$semaphore->availablePermits($resource), $semaphore->tryAcquire($resource), $leases[0]->state()], 'all are held');
fails(AcquireTimeoutException::class, "Could not acquire 3 of the 10 permits of the semaphore \"$resource\" within 0 s", fn () => $semaphore->acquire($resource, 3, 0));
fails(DeadlockException::class, '*holds too many permits*', fn () => $semaphore->acquire($resource, 3));
same([true, 7], [$leases[0]->release(), $semaphore->availablePermits($resource)], 'seven given back');
same([false, 7], [$leases[0]->release(), $semaphore->availablePermits($resource)], 'once');
same([5, 2], [$semaphore->synchronized($resource, fn (Lease $lease) => $lease->permits, 5), (new Semaphore(5, $server))->availablePermits($resource)], 'a section; a lower capacity');
$nodes(2);

// In the order of asking: no client passes a large request, and each holder that ends makes room.
$large = $waiter($server, 10, 8);
$nodes(3);
$small = $waiter($server, 10, 2);
$nodes(4);
same([7, null], [$semaphore->availablePermits($resource), $semaphore->tryAcquire($resource)], 'free, but not for the ones that came later');
same(true, $leases[2]->release(), 'release() of two');
same('held', $large->hear(), 'the large one');
same(true, $leases[1]->release(), 'release() of one');
same('held', $small->hear(), 'the small one');
$large->say('release');
$small->say('release');
same([true, true, 10], [$large->result(), $small->result(), $semaphore->availablePermits($resource)], 'all are free again');

// A killed holder keeps its permits until its session ends.
$lease = $semaphore->acquire($resource, 9);
for ($attempt = 1; ; $attempt++) {
    $killed = $waiter("$server?session_timeout=1", 10, 1);
    try {
        same('held', $killed->hear(), 'a child');
        break;
    } catch (RuntimeException $e) { // the machine stood still until the end of its session
        $attempt < 10 || throw $e;
    }
}
$next = $waiter($server, 10, 1);
$nodes(3);
posix_kill($killed->pid, SIGKILL);
same('held', $next->hear(), 'after the end of its session');
$next->say('release');
same([true, true], [$next->result(), $lease->isHeld()], 'the others');

// A child of fork() leaves its parent's permits alone.
$child = fork_child(function () use ($semaphore, $resource, $lease) {
    return [$lease->state(), $lease->release(), $semaphore->tryAcquire($resource, 2), $semaphore->tryAcquire($resource)?->release()];
});
same([LeaseState::Lost, false, null, true], $child->result(), 'in a child');
same([true, 1, true], [$lease->isHeld(), $semaphore->availablePermits($resource), $lease->release()], 'in the parent');

// The lease lasts as long as the session.
fails(Dlock\DlockException::class, '*cannot be handed over*', fn () => $semaphore->acquire($resource)->detach());
wait_for(fn () => $semaphore->availablePermits($resource) === 10, 60, 'the lease that was not handed over');
$private = zk_private();
$relay = relay($private->hosts());
$own = new Semaphore(2, "zookeeper://{$relay->address()}?session_timeout=50");
$lease = $own->acquire($resource);
$private->forget($relay);
wait_for(fn () => !$lease->isHeld(), 60, 'the loss');
fails(LeaseLostException::class, '*was lost*', fn () => $lease->assertHeld());
same([false, 2], [$lease->release(), $own->availablePermits($resource)], 'after the loss');

// Readers and writers.
$lock = new ReadWriteLock($server);
$readers = [$lock->readLock()->acquire($resource), $lock->readLock()->tryAcquire($resource)];
same([1, 1, null, true], [$readers[0]->permits, $readers[1]->permits, $lock->writeLock()->tryAcquire($resource), $lock->writeLock()->isLocked($resource)], 'two readers');
fails(DeadlockException::class, '*', fn () => $lock->writeLock()->acquire($resource));
$side = fn (string $side) => fork_child(function (callable $say, callable $hear) use ($side, $server, $resource) {
    $lease = (new ReadWriteLock($server))->{$side}()->acquire($resource, 60);
    $say($side);
    $hear();
    return $lease->release();
});
$waiting = [];
foreach (['writeLock', 'readLock', 'readLock', 'writeLock'] as $i => $name) {
    $waiting[] = $side($name);
    wait_for_nodes($zk, 3 + $i, "ReadWriteLock:$resource", '/permits');
}
same(true, $readers[0]->release() && $readers[1]->release(), 'release() of the readers');
same('writeLock', $waiting[0]->hear(), 'the first writer');
same(null, $lock->readLock()->tryAcquire($resource), 'beside a writer');
foreach ([[0], [1, 2], [3]] as $phase) {
    foreach ($phase as $i) {
        $i === 0 || $waiting[$i]->hear();
    }
    foreach ($phase as $i) {
        $waiting[$i]->say('release');
        same(true, $waiting[$i]->result(), "release() of waiter $i");
    }
}
same([false, 1], [$lock->readLock()->isLocked($resource), $lock->writeLock()->acquire($resource)->permits], 'at the end');
echo "done\n";
?>
--EXPECT--
done
