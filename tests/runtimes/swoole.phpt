--TEST--
Runtimes: in coroutines of Swoole calls yield without a waiter (with a stub of Swoole's C API)
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

// The module of Swoole or OpenSwoole itself, if DLOCK_SWOOLE names its file.
if (!($module = getenv('DLOCK_SWOOLE'))) {
    $module = program('coroutines', '-shared -fPIC');
    rename($module, "$module.so");
    $module .= '.so';
}
$child = php_child('require ' . var_export(__DIR__ . '/../inc/coroutines.inc', true) . ';' . <<<'CODE'
use Swoole\Coroutine;

/** Each kind: in turn, others beside them, cancelled. */
function give_way(string $name, StrandKind $kind): void
{
    $manager = $kind->manager();
    $resource = unique($name);
    $connected = (object) ['count' => 0];
    for ($i = 0; $i < 2; $i++) { // connects, for notifications, too, and makes ZooKeeper's node
        Coroutine::create(function () use ($kind, $manager, $resource, $connected) {
            $manager->synchronized($resource, fn () => rest(0.01), timeout: 60, ttl: $kind->ttl(30));
            $connected->count++;
        });
    }
    rest_until(fn () => $connected->count === 2);
    for ($late = true, $attempt = 1; $late && $attempt <= 10; $attempt++) { // in 3 s no waiter counts as dead
        $begin = now();
        $order = [];
        $ticks = $inside = 0;
        for ($i = 0; $i < 10; $i++) {
            Coroutine::create(function () use ($kind, $manager, $resource, $name, $i, &$order, &$ticks, &$inside) {
                $lease = $manager->acquire($resource, timeout: 60, ttl: $kind->ttl(30));
                same(1, ++$inside, "$name: inside");
                for ($before = $ticks; $ticks === $before;) { // others go on meanwhile
                    rest(0.001);
                }
                $order[] = $i;
                $inside--;
                same(true, $lease->release(), "$name: release()");
            });
        }
        while (count($order) < 10) {
            rest(0.001);
            $ticks++;
        }
        $late = now() - $begin >= 3;
    }
    $kind->isFair ? same(range(0, 9), $order, "$name: in order") : same(10, count($order), "$name: all have it");

    // cancel() ends a wait, and its place is given back.
    $lease = $manager->acquire($resource, timeout: 0, ttl: $kind->ttl(30));
    foreach (['while it waits' => 0, 'with the grant' => 1] as $when => $granted) {
        $now = (object) ['thrown' => null];
        $id = Coroutine::create(function () use ($manager, $resource, $now) {
            $now->thrown = thrown_by(fn () => $manager->acquire($resource, 60)->release()) ?? false;
        });
        rest(0.02);
        $granted && $lease->release();
        $granted && pause(0.02); // it comes, and the coroutine has not gone on
        Coroutine::cancel($id);
        rest_until(fn () => $now->thrown !== null);
        ($granted && $now->thrown === false) || same('The coroutine was cancelled', $now->thrown->getMessage(), "$name: cancel() $when");
    }
    $kind->waitUntilGone($resource);

    // The time limit comes together with the grant.
    for ($i = 0; $i < 5; $i++) {
        $lease = $manager->acquire($resource, timeout: 10, ttl: $kind->ttl(30));
        $now = (object) ['thrown' => null];
        Coroutine::create(function () use ($manager, $resource, $now) {
            $now->thrown = thrown_by(fn () => $manager->acquire($resource, 0.03)->release()) ?? false;
        });
        rest(0.005);
        $lease->release();
        pause(0.04);
        rest_until(fn () => $now->thrown !== null);
        $now->thrown === false || same(Dlock\AcquireTimeoutException::class, $now->thrown::class, "$name: a time limit");
    }
    $kind->waitUntilGone($resource);
}

in_coroutines(function () {
    foreach (strand_kinds() as $name => $kind) {
        give_way($name, $kind);
    }
});

// A loss is thrown in the coroutine that has the lease, while that waits.
in_coroutines(function () {
    $locks = shared_locks()[0];
    $manager = $locks->manager(ttl: 0.5, onLoss: 'throw');
    $resource = unique('loss');
    $other = $locks->manager()->acquire("$resource-other", 0, 100);
    $now = (object) ['thrown' => null];
    Coroutine::create(function () use ($locks, $manager, $resource, $now) {
        $now->thrown = thrown_by(function () use ($locks, $manager, $resource) {
            $lease = $manager->acquire($resource, 30);
            $locks->steal($locks->raw()[0], $resource);
            $locks->manager()->acquire("$resource-other", 60);
        });
    });
    rest_until(fn () => $now->thrown !== null);
    same(Dlock\LeaseLostException::class, get_debug_type($now->thrown), 'a loss while it waits');
});

// What a coroutine has by name is given back when it ends; and all that it has forgotten, by endRequest().
$lock = new DistributedLock(redis_server());
$resource = unique('ends');
$lease = null;
in_coroutines(function () use ($lock, $resource, &$lease) {
    $lock->lock($resource, 0);
    $lock->lock("$resource-2", 0);
    $lease = $lock->acquire("$resource-lease", 0);
});
in_coroutines(function () use ($lock, $resource) {
    Coroutine::defer(Dlock\endRequest(...));
    $GLOBALS['forgotten'] = $lock->acquire("$resource-forgotten", 0);
    same(false, $lock->release($resource), 'release() of what another one has');
});
same([false, false, true, false], [$lock->isLocked($resource), $lock->isLocked("$resource-2"), $lease->isHeld(), $forgotten->isHeld()], 'at their ends');
fails(ArgumentCountError::class, '*', fn () => Dlock\endRequest(1), 'endRequest() takes nothing else');

// The process ends while coroutines wait.
in_coroutines(function () use ($lock, $argv) {
    $lease = $lock->acquire($argv[1], 0);
    for ($i = 0; $i < 3; $i++) {
        Coroutine::create(fn () => $lock->acquire($argv[1], 60));
    }
    rest_until(fn () => redis_raw()->cmd('ZCARD', "dlock:queue:{Lock:$argv[1]}") === 3);
    echo "over\n";
    exit;
});
CODE, [$resource = unique('exit')], '-d extension=' . escapeshellarg($module) . ' -d display_errors=0 -d log_errors=1');
same("over\n", substr($said = $child->readAll(), 0, 5), "coroutines: $said"); // Swoole's exit is an exception
$child->wait();
wait_for(fn () => redis_raw()->cmd('EXISTS', "Lock:$resource", "dlock:queue:{Lock:$resource}", "dlock:waiters:{Lock:$resource}") === 0, 60, 'nothing to be left');
echo "done\n";
?>
--EXPECT--
done
