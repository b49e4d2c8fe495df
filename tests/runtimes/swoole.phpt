--TEST--
runtimes: in coroutines of Swoole calls give way without a waiter (with a stub of Swoole's C API)
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_compiler();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

/** Compiles one of tests/runtimes/programs. */
function program(string $name, string $options): string
{
    $file = temporary_directory() . "/$name";
    $config = getenv('PHP_CONFIG') ?: 'php-config';
    exec("gcc -O1 $options -o " . escapeshellarg($file) . ' ' . escapeshellarg(__DIR__ . "/programs/$name.c") . " $($config --includes) 2>&1", $output, $code);
    $code === 0 || throw new RuntimeException(implode("\n", $output));
    return $file;
}

$module = program('coroutines', '-shared -fPIC');
rename($module, "$module.so");
$child = php_child('require ' . var_export(__DIR__ . '/../inc/strands.inc', true) . '; require ' . var_export(__DIR__ . '/../inc/coroutines.inc', true) . ';' . <<<'CODE'
use Swoole\Coroutine;

foreach (strand_kinds() as $name => $kind) {
    $manager = $kind->manager();
    $resource = unique($name);
    Coroutine\System::$waits = 0;
    $had = 0;
    for ($i = 0; $i < 10; $i++) {
        Coroutine::create(function () use ($kind, $manager, $resource, $name, &$had) {
            $lease = $manager->acquire($resource, timeout: 60, ttl: $kind->ttl(30));
            Coroutine\System::nap(0.002);
            same(true, $lease->release(), "$name: release()");
            $had++;
        });
    }
    Strands::run();
    same(10, $had, "$name: all have it");
    holds(Coroutine\System::$waits >= 5, "$name: by waitEvent()", Coroutine\System::$waits);

    // cancel() ends a wait, and its place is given back.
    $lease = $manager->acquire($resource, timeout: 0, ttl: $kind->ttl(30));
    $thrown = null;
    $id = Coroutine::create(function () use ($manager, $resource, &$thrown) {
        $thrown = thrown_by(fn () => $manager->acquire($resource, 60));
    });
    $before = Coroutine\System::$waits;
    Strands::run(fn () => Coroutine\System::$waits > $before);
    Coroutine::cancel($id);
    Strands::run();
    same('The coroutine was cancelled', $thrown?->getMessage(), "$name: cancel()");
    $lease->release();
    $kind->waitUntilGone($resource);
}

// What a coroutine has by name is given back when it ends; and all that it has forgotten, by endRequest().
$lock = new DistributedLock(redis_server());
$resource = unique('ends');
$lease = null;
Coroutine::create(function () use ($lock, $resource, &$lease) {
    $lock->lock($resource, 0);
    $lock->lock("$resource-2", 0);
    $lease = $lock->acquire("$resource-lease", 0);
});
Coroutine::create(function () use ($lock, $resource) {
    Coroutine::defer(Dlock\endRequest(...));
    $GLOBALS['forgotten'] = $lock->acquire("$resource-forgotten", 0);
    same(false, $lock->release($resource), 'release() of what another one has');
});
Strands::run();
same([false, false, true, false], [$lock->isLocked($resource), $lock->isLocked("$resource-2"), $lease->isHeld(), $forgotten->isHeld()], 'at their ends');
echo "over\n";
CODE, [], '-d extension=' . escapeshellarg("$module.so"));
same("over\n", $child->readAll(), 'coroutines');
echo "done\n";
?>
--EXPECT--
done
