--TEST--
ReadWriteLock: any number of readers or one writer; each side refuses the other's handles; a wait for itself fails; the same on memory://
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\ReadWriteLock;

foreach ([redis_server(), 'memory://'] as $server) {
    foreach (['phase', 'fifo'] as $fairness) {
        $lock = new ReadWriteLock($server, fairness: $fairness);
        [$read, $write] = [$lock->readLock(), $lock->writeLock()];
        same([true, true, false], [$read === $lock->readLock(), $write === $lock->writeLock(), $read === $write], 'the two sides');
        holds($read instanceof Dlock\LockManager && $write instanceof Dlock\LockManager, 'they are lock managers');
        $resource = unique($fairness);
        same([false, false], [$read->isLocked($resource), $write->isLocked($resource)], 'free');

        // Readers share; a writer waits for all of them.
        $readers = [$read->acquire($resource, ttl: 100), $read->acquire($resource, ttl: 100), $read->tryAcquire($resource, ttl: 100)];
        same([1, 1, 1], array_map(fn ($lease) => $lease->permits, $readers), 'readers');
        same([true, true, null], [$read->isLocked($resource), $write->isLocked($resource), $write->tryAcquire($resource)], 'while they read');
        fails(AcquireTimeoutException::class, "The lock \"$resource\" was not free within 0.05 s", fn () => $write->acquire($resource, 0.05));
        $fences = array_map(fn ($lease) => $lease->fencingToken, $readers);
        holds($fences[0] < $fences[1] && $fences[1] < $fences[2], 'fencing tokens rise over all grants of a resource', $fences);
        same([true, true, null], [$readers[0]->release(), $readers[1]->release(), $write->tryAcquire($resource)], 'one reads still');
        same(true, $readers[2]->release(), 'the last reader');

        // A writer excludes all others.
        $writer = $write->acquire($resource, ttl: 100);
        same(1, $writer->permits, 'permits of a writer');
        holds($writer->fencingToken > $fences[2], 'its fencing token', $writer->fencingToken);
        same([null, null, true, true], [$write->tryAcquire($resource), $read->tryAcquire($resource), $read->isLocked($resource), $write->isLocked($resource)], 'while it writes');
        fails(AcquireTimeoutException::class, "The lock \"$resource\" was not free within 0.05 s", fn () => $read->acquire($resource, 0.05));
        same([true, false], [$writer->release(), $read->isLocked($resource)], 'the writer ends');
        same(['r', 'w'], [$read->synchronized($resource, fn () => 'r'), $write->synchronized($resource, fn () => 'w')], 'synchronized()');

        // The write lock refuses a reader's handle, and the read lock a writer's.
        $names = ['read' => $read, 'write' => $write];
        foreach ([['read', 'write'], ['write', 'read']] as [$one, $other]) {
            $handle = $names[$one]->acquire($resource, ttl: 100)->detach();
            fails(ValueError::class, "Dlock\ReadWriteLockSide::attach(): Argument #1 (\$handle) must be a handle of the same kind of lock; this one is for {$one}Lock() of Dlock\ReadWriteLock",
                fn () => $names[$other]->attach($handle));
            if ($server === 'memory://') { // no other process has this table
                same([1, true], [($lease = $names[$one]->attach($handle))->permits, $lease->release()], "attach() of {$one}Lock()");
                continue;
            }
            $child = fork_child(function (callable $say, callable $hear) use ($server, $handle, $one) {
                $lease = (new ReadWriteLock($server))->{"{$one}Lock"}()->attach($handle);
                $say([$lease->permits, $lease->isHeld()]);
                $hear();
                return $lease->release();
            });
            same([1, true], $child->hear(), "attach() of {$one}Lock() in another process");
            same([$one === 'read' ?: null, null], [$read->tryAcquire($resource)?->isHeld(), $write->tryAcquire($resource)], "what else is to be had beside it");
            $child->say('release');
            same(true, $child->result(), 'its release()');
        }

        // A process that would wait for itself, without end.
        $message = "This process holds the lock \"$resource\" already, and would wait for itself";
        $held = $read->acquire($resource);
        fails(DeadlockException::class, $message, fn () => $write->acquire($resource, 30), 'a writer, while this process reads');
        fails(DeadlockException::class, $message, fn () => (new ReadWriteLock($server, fairness: $fairness))->writeLock()->acquire($resource, 30), 'the same, by another object');
        same(true, $read->acquire($resource, 30)->release(), 'a second reader');
        $held->release();
        $held = $write->acquire($resource);
        fails(DeadlockException::class, $message, fn () => $read->acquire($resource, 30), 'a reader, while this process writes');
        fails(DeadlockException::class, $message, fn () => $write->acquire($resource, 30), 'a second writer');
        $held->release();
        $held = $read->acquire($resource, ttl: 0.5); // ends by itself
        same(true, $write->acquire($resource, 30, 100)->release(), 'a writer, after a lease that is not renewed');
        unset($held);
    }

    // Semaphores: a request that the rest of the permits cannot satisfy.
    $semaphore = new Dlock\Semaphore(5, $server);
    $resource = unique('semaphore');
    $held = [$semaphore->acquire($resource, 2), $semaphore->acquire($resource)];
    same(true, $semaphore->acquire($resource, 2, 30)->release(), 'two of five, where three are held');
    fails(DeadlockException::class, "This process holds too many permits of the semaphore \"$resource\" already, and would wait for itself", fn () => $semaphore->acquire($resource, 3, 30));
    same(null, $semaphore->tryAcquire($resource, 3), 'without a wait');
    unset($held[1]);
    wait_for(fn () => $semaphore->availablePermits($resource) === 3, 60, 'the permit to be given back');
    same(true, $semaphore->acquire($resource, 3, 30)->release(), 'three of five, where two are held');
}
echo "done\n";
?>
--EXPECT--
done
