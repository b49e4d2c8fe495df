--TEST--
A lease that goes out of scope is released; lock() holds the lock until its object goes out of scope
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$lock = new DistributedLock(redis_server());
$red = new RedLock(redis_servers(3));
foreach (['DistributedLock' => [$lock, 'Lock:'], 'RedLock' => [$red, '']] as $name => [$manager, $prefix]) {
    $resource = unique("scope $name");
    $is_free = fn () => !$manager->isLocked($resource);

    $lease = $manager->acquire($resource);
    same(false, $is_free(), "$name: free while the lease is there");
    unset($lease);
    same(true, $is_free(), "$name: free after unset()");

    $lease = $manager->acquire($resource);
    $lease = null;
    same(true, $is_free(), "$name: free after = null");

    (function () use ($manager, $resource, $is_free, $name) {
        $lease = $manager->acquire($resource);
        same(false, $is_free(), "$name: free within the function");
    })();
    same(true, $is_free(), "$name: free after the function");

    fails(LogicException::class, 'left', function () use ($manager, $resource) {
        $lease = $manager->acquire($resource);
        throw new LogicException('left');
    });
    same(true, $is_free(), "$name: free after an exception");

    // The caller does not keep the lease.
    @$manager->acquire($resource); // suppresses its warning
    same(true, $is_free(), "$name: free after a lease that nobody took");

    // The lease outlives its manager.
    $class = $manager::class;
    $lease = (new $class($name === 'RedLock' ? redis_servers(3) : redis_server()))->acquire($resource);
    same(false, $is_free(), "$name: free after its manager");
    same(true, $lease->isHeld(), "$name: isHeld() after its manager");
    same(true, $lease->release(), "$name: release() after its manager");

    // One of many leases goes out of scope.
    $leases = array_map(fn ($i) => $manager->acquire("$resource-$i"), range(0, 4));
    unset($leases[2]);
    same([true, true, false, true, true], array_map(fn ($i) => $manager->isLocked("$resource-$i"), range(0, 4)), "$name: one of five");
    $leases = [];
    same([false, false, false, false, false], array_map(fn ($i) => $manager->isLocked("$resource-$i"), range(0, 4)), "$name: none of five");

    // A lease in a cycle is released when PHP collects the cycle.
    $cycle = new stdClass();
    $cycle->self = $cycle;
    $cycle->lease = $manager->acquire($resource);
    unset($cycle);
    same(false, $is_free(), "$name: free before the collection of a cycle");
    gc_collect_cycles();
    same(true, $is_free(), "$name: free after the collection of a cycle");
}

// The lock of lock() lasts as long as the object.
$resource = unique('object');
$object = new DistributedLock(redis_server());
$object->lock($resource);
(function () use ($object) {})();
same(true, $lock->isLocked($resource), 'locked while the object is there');
unset($object);
same(false, $lock->isLocked($resource), 'locked after the object');

// The array of RedLock::lock() does not depend on its object.
$object = new RedLock(redis_servers(3));
$array = $object->lock($resource);
unset($object);
gc_collect_cycles();
same(true, $red->isLocked($resource), 'locked after the RedLock object');
same(true, $red->unlock($array), 'unlock()');
echo "done\n";
?>
--EXPECT--
done
