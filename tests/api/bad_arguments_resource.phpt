--TEST--
A resource has 1 to 1024 bytes; each method with a resource throws a ValueError for any other
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$lock = new DistributedLock(redis_server());
$red = new RedLock(redis_servers(3));
$calls = [
    'DistributedLock::lock' => ['key', $lock->lock(...)],
    'DistributedLock::release' => ['key', $lock->release(...)],
    'DistributedLock::unlock' => ['key', $lock->unlock(...)],
    'DistributedLock::expire' => ['key', fn ($x) => $lock->expire($x, 1)],
    'DistributedLock::isLocking' => ['key', $lock->isLocking(...)],
    'RedLock::lock' => ['resource', $red->lock(...)],
];
foreach (['DistributedLock' => $lock, 'RedLock' => $red] as $class => $manager) {
    $calls += [
        "$class::acquire" => ['resource', $manager->acquire(...)],
        "$class::tryAcquire" => ['resource', $manager->tryAcquire(...)],
        "$class::synchronized" => ['resource', fn ($x) => $manager->synchronized($x, fn () => print "the section ran\n")],
        "$class::isLocked" => ['resource', $manager->isLocked(...)],
    ];
}
foreach ($calls as $method => [$name, $call]) {
    foreach (['', str_repeat('x', 1025), str_repeat("\0", 100_000)] as $bad) {
        fails(ValueError::class, "$method(): Argument #1 (\$$name) must be between 1 and 1024 bytes long", fn () => $call($bad), "$method() with " . strlen($bad));
    }
    $several = preg_match('/acquire|synchronized/i', $method) === 1; // tests/lease/several.phpt tests lists further
    $type = $several ? 'array|string' : 'string';
    foreach ([null, 5, 1.5, true, ...($several ? [] : [[]]), new stdClass()] as $bad) {
        fails(TypeError::class, "*$method(): Argument #1 (\$$name) must be of type $type, * given", fn () => $call($bad), "$method() with " . shown($bad));
    }
}
echo "done\n";
?>
--EXPECT--
done
