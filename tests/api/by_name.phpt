--TEST--
Calls by name do not release a lock of acquire(): release() and expire() throw, isLocking() and unlockAll() tell that it is held
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

foreach (['Redis' => redis_server(), 'memory' => 'memory://'] as $name => $server) {
    $lock = new DistributedLock($server);
    $other = new DistributedLock($server);
    $key = unique('by-name');
    $lease = $lock->acquire($key, timeout: 0);

    fails(Dlock\DlockException::class, "The lock \"$key\" was acquired with acquire(): call release() of its Lease", fn () => $lock->release($key));
    fails(Dlock\DlockException::class, "The lock \"$key\" was acquired with acquire(): call release() of its Lease", fn () => $lock->unlock($key));
    fails(Dlock\DlockException::class, "The lock \"$key\" was acquired with acquire(): call refresh() of its Lease", fn () => $lock->expire($key, 60));
    same(true, $lock->isLocking($key), "$name: isLocking()");
    same(false, $lock->unlockAll(), "$name: unlockAll() releases no lease, and does not say that it did");
    same(true, $lease->isHeld(), "$name: the lease");
    same([false, false, false, true], [$other->release($key), $other->expire($key, 60), $other->isLocking($key), $other->unlockAll()],
        "$name: another object has nothing to do with it");

    // Beside a lock that lock() acquired.
    same(true, $lock->lock(unique('beside'), 0), "$name: lock()");
    same(false, $lock->unlockAll(), "$name: unlockAll() beside a lease");

    same(true, $lease->release(), "$name: release() of the lease");
    same([false, false, false, true], [$lock->release($key), $lock->expire($key, 60), $lock->isLocking($key), $lock->unlockAll()], "$name: after it");

    // The same in a critical section, but not after detach().
    $lock->synchronized($key, function () use ($lock, $key, $name) {
        same(true, $lock->isLocking($key), "$name: in a section");
        fails(Dlock\DlockException::class, "The lock \"$key\" was acquired with acquire(): call release() of its Lease", fn () => $lock->release($key));
    });
    $lease = $lock->acquire($key, timeout: 0);
    $lease->detach();
    same([false, false, true], [$lock->release($key), $lock->isLocking($key), $lock->unlockAll()], "$name: after detach()");
}

// The server loses the lock before this process knows of it.
$lock = new DistributedLock(redis_server());
$key = unique('lost');
$lease = $lock->acquire($key, timeout: 0);
redis_raw()->cmd('DEL', "Lock:$key");
same(false, $lock->isLocking($key), 'isLocking() after a loss');
same([false, true], [$lock->release($key), $lock->unlockAll()], 'which is known then');
echo "done\n";
?>
--EXPECT--
done
