--TEST--
synchronized() runs a function under the lock, gives it the lease, and returns its result
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\Lease;
use Dlock\LeaseState;

final class Section
{
    public function run(Lease $lease): string
    {
        return "run $lease->resource";
    }

    public static function call(Lease $lease): string
    {
        return "call $lease->resource";
    }

    public function __invoke(Lease $lease): string
    {
        return "invoke $lease->resource";
    }
}

function section(Lease $lease): string
{
    return "function $lease->resource";
}

foreach ([new DistributedLock(redis_server()), new RedLock(redis_servers(3)), (new Dlock\ReadWriteLock(redis_server()))->writeLock()] as $manager) {
    $name = $manager::class;
    $resource = unique($name);

    // Results of all types, and the one argument.
    foreach ([null, true, 7, 1.5, 'text', ['a' => [1]], new stdClass(), fn () => 1] as $result) {
        same($result, $manager->synchronized($resource, fn () => $result), "$name: the result");
    }
    same(null, $manager->synchronized($resource, function () {
    }), "$name: the result of a function without one");
    $arguments = $manager->synchronized($resource, fn (mixed ...$arguments) => $arguments);
    same(1, count($arguments), "$name: number of arguments");
    same(Lease::class, $arguments[0]::class, "$name: the argument");
    same(LeaseState::Released, $arguments[0]->state(), "$name: the lease's state after the section");
    same(false, $arguments[0]->release(), "$name: release() after the section");

    // The lock is held inside, and free before and after.
    $inside = $manager->synchronized($resource, fn (Lease $lease) => [
        $lease->isHeld(), $lease->resource === $resource, $lease->remaining() > 50, $manager->isLocked($resource), $manager->tryAcquire($resource),
    ], ttl: 100);
    same([true, true, true, true, null], $inside, "$name: inside");
    same(false, $manager->isLocked($resource), "$name: locked after the section");

    // All kinds of callables.
    foreach (['section' => 'function', 'Section::call' => 'call'] as $callable => $word) {
        same("$word $resource", $manager->synchronized($resource, $callable), "$name: $callable");
    }
    same("run $resource", $manager->synchronized($resource, [new Section(), 'run']), "$name: [object, method]");
    same("call $resource", $manager->synchronized($resource, [Section::class, 'call']), "$name: [class, method]");
    same("invoke $resource", $manager->synchronized($resource, new Section()), "$name: an object with __invoke()");
    same("run $resource", $manager->synchronized($resource, (new Section())->run(...)), "$name: a first-class callable");
    same('a reference', $manager->synchronized($resource, function &(Lease $lease) {
        static $text = 'a reference';
        return $text;
    }), "$name: a function that returns a reference");

    // Nested with another resource; released or detached by the section itself.
    same(42, $manager->synchronized($resource, fn () => $manager->synchronized("$resource-2", fn () => 42)), "$name: nested");
    same(true, $manager->synchronized($resource, fn (Lease $lease) => $lease->release()), "$name: released inside");
    $handle = $manager->synchronized($resource, fn (Lease $lease) => $lease->detach());
    same(true, $manager->isLocked($resource), "$name: locked after a section that detached");
    same(true, $manager->attach($handle)->release(), "$name: attach() after the section");

    // If the lock is not free, the section does not run.
    $lease = $manager->acquire($resource, ttl: 100);
    $ran = false;
    fails(Dlock\AcquireTimeoutException::class, "The lock \"$resource\" was not free within *", function () use ($manager, $resource, &$ran) {
        $manager->synchronized($resource, function () use (&$ran) {
            $ran = true;
        }, 0.05);
    }, $name);
    same(false, $ran, "$name: the section ran");
    $lease->release();
}
echo "done\n";
?>
--EXPECT--
done
