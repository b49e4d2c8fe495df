--TEST--
If the lock is not free in time, acquire() throws AcquireTimeoutException, tryAcquire() returns null, lock() returns false
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\AcquireTimeoutException;

foreach ([new DistributedLock(redis_server()), new RedLock(redis_servers(3)), (new Dlock\ReadWriteLock(redis_server()))->writeLock()] as $manager) {
    $name = $manager::class;
    $resource = unique($name);
    $lease = $manager->acquire($resource, ttl: 100);

    fails(AcquireTimeoutException::class, "The lock \"$resource\" was not free within 0.05 s", fn () => $manager->acquire($resource, 0.05), $name);
    fails(AcquireTimeoutException::class, "The lock \"$resource\" was not free within 0 s", fn () => $manager->acquire($resource, 0), $name);
    fails(AcquireTimeoutException::class, '*', fn () => $manager->acquire($resource, timeout: 0.0, ttl: 5), $name);
    $e = thrown_by(fn () => $manager->acquire($resource, 0.05));
    same([0, null, __FILE__], [$e->getCode(), $e->getPrevious(), $e->getFile()], "$name: code, previous, file");
    holds($e instanceof Dlock\DlockException && $e instanceof Exception, "$name: it is a DlockException and an Exception");

    same(null, $manager->tryAcquire($resource), "$name: tryAcquire()");
    same(null, $manager->tryAcquire($resource, 0), "$name: tryAcquire(0)");
    within(0.1, seconds(fn () => same(null, $manager->tryAcquire($resource, 0.1), 'tryAcquire(0.1)')), SOON, "$name: the time tryAcquire() takes");

    // The attempts changed nothing.
    same(true, $lease->isHeld() && $lease->release(), "$name: the holder's lease");
    // If the lock is free, timeout 0 acquires it at the first attempt.
    foreach ([fn () => $manager->tryAcquire($resource), fn () => $manager->acquire($resource, 0)] as $take) {
        $lease = $take();
        same(Dlock\Lease::class, get_debug_type($lease), "$name: a free lock");
        same(true, $lease->release(), "$name: release()");
    }
}

$lock = new DistributedLock(redis_server());
$resource = unique('lock');
@(new DistributedLock(redis_server()))->acquire($resource); // released at once
same(true, $lock->lock($resource, 0), 'lock() with 0 of what is free');
same(false, (new DistributedLock(redis_server()))->lock($resource, 0), 'lock() with 0 of what is taken');

// A single attempt sends one request and does not wait.
$server = redis_private();
$redis = $server->raw();
$lock = new DistributedLock($server->dsn());
$red = new RedLock([$server->dsn()], retryCount: 1);
$lock->tryAcquire('warm')->release(); // connects, and the server learns the scripts
$redis->cmd('SET', 'Lock:taken', 'theirs');
$redis->cmd('SET', 'taken', 'theirs');
foreach (['tryAcquire()' => fn () => $lock->tryAcquire('taken'), 'lock()' => fn () => $lock->lock('taken', 0),
    'RedLock::tryAcquire()' => fn () => $red->tryAcquire('taken'), 'RedLock::lock()' => fn () => $red->lock('taken')] as $what => $try) {
    same(['evalsha' => 1], sent_commands($redis, $try), "$what: commands");
}
echo "done\n";
?>
--EXPECT--
done
