--TEST--
synchronized() passes the section's exception on, and releases the lock
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

foreach ([new DistributedLock(redis_server()), new RedLock(redis_servers(3)), (new Dlock\ReadWriteLock(redis_server()))->writeLock()] as $manager) {
    $name = $manager::class;
    $resource = unique($name);
    foreach ([new LogicException('wrong', 5), new Error('worse'), new Dlock\LeaseLostException('of its own')] as $exception) {
        $thrown = thrown_by(fn () => $manager->synchronized($resource, fn () => throw $exception));
        same(true, $thrown === $exception, "$name: the same exception");
        same(null, $thrown->getPrevious(), "$name: its previous");
        same(false, $manager->isLocked($resource), "$name: locked after the exception");
    }
    // A section that PHP cannot call.
    fails(ArgumentCountError::class, '*', fn () => $manager->synchronized($resource, fn ($lease, $more) => 1));
    fails(TypeError::class, '*', fn () => $manager->synchronized($resource, fn (int $lease) => 1));
    same(false, $manager->isLocked($resource), "$name: locked after a section that could not be called");
}
echo "done\n";
?>
--EXPECT--
done
