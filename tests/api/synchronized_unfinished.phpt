--TEST--
synchronized() throws a TypeError if the section returns a generator or a promise, which would run on without the lock
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

final class Promise
{
    public function then(callable $do): self { return $this; }
}

$resource = unique('section');
foreach ([new DistributedLock('memory://'), new DistributedLock(redis_server()), new RedLock(redis_servers(3)),
    new Dlock\Semaphore(2, redis_server()), (new Dlock\ReadWriteLock(redis_server()))->writeLock()] as $manager) {
    $ran = false;
    fails(TypeError::class, $manager::class . '::synchronized(): Argument #2 ($criticalSection) must not return a Generator, which would run on without '
        . "the lock \"$resource\": finish the work inside the section", fn () => $manager->synchronized($resource, function () use (&$ran) {
            $ran = true;
            yield 1;
        }));
    same(false, $ran, $manager::class . ': it has not run');
    fails(TypeError::class, $manager::class . '::synchronized(): Argument #2 ($criticalSection) must not return a Promise, which would run on without '
        . "the lock \"$resource\": finish the work inside the section", fn () => $manager->synchronized($resource, fn () => new Promise()));
    // The lock is free, and other results are unchanged.
    $lease = $manager->acquire($resource, timeout: 0);
    same(true, $lease->release(), $manager::class . ': it is free');
    same([1, 2], $manager->synchronized($resource, fn () => iterator_to_array((function () { yield 1; yield 2; })())), $manager::class . ': a generator that is used');
    same(ArrayObject::class, $manager->synchronized($resource, fn () => new ArrayObject())::class, $manager::class . ': an object');
}
// The section's exception has precedence.
fails(LogicException::class, 'left', fn () => (new DistributedLock('memory://'))->synchronized('x', fn () => throw new LogicException('left')));
echo "done\n";
?>
--EXPECT--
done
