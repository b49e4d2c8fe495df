--TEST--
If there is no memory for a request of the extension, each constructor and call throws; it works when there is memory again
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_preloading();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/api.inc';
require_once __DIR__ . '/../inc/memcached.inc';

$library = temporary_directory() . '/failing_calls.so';
exec(sprintf('gcc -shared -fPIC -O1 -o %s %s 2>&1', escapeshellarg($library), escapeshellarg(dirname(__DIR__) . '/setup/failing_calls.c')), $output, $code);
$code === 0 || exit(implode("\n", $output));

$code = <<<'PHP'
require_once getenv('INC') . '/api.inc';

/** Each request for memory fails once. */
function each_fails(string $what, callable $do): void
{
    static $serial = 0;
    for ($n = 1, $failed = true; $failed; $n++) {
        $serial++;
        putenv("FAIL=$serial:$n");
        $problem = null;
        try {
            $do();
        } catch (Throwable $problem) {
        }
        putenv('FAIL');
        $failed = getenv('FAILED', true) === "$serial:$n";
        holds($problem === null || ($failed && str_contains(strtolower($problem->getMessage()), 'memory')), "$what, request $n", $problem ? get_debug_type($problem) . ': ' . $problem->getMessage() : null);
        $do();
    }
    holds($n > 2, "$what: some request fails", $n);
}

$dsn = redis_server();
$makers = [
    'DistributedLock' => fn () => new DistributedLock($dsn),
    'memory' => fn () => new DistributedLock('memory://'),
    'dlock.server' => fn () => (new DistributedLock())->isLocking('none'), // an object without a server throws another error
    'memcached' => fn () => new DistributedLock(getenv('MEMCACHED')),
    'replicas' => fn () => new DistributedLock("$dsn?replicas=0"),
    'RedLock' => fn () => new RedLock(redis_servers(3)),
    'Semaphore' => fn () => new Dlock\Semaphore(2, $dsn),
    'ReadWriteLock' => fn () => new Dlock\ReadWriteLock($dsn),
    'Stock' => fn () => new Dlock\Stock($dsn),
] + (class_exists('ZkLock', false) ? ['ZkLock' => fn () => new ZkLock(zk_hosts())] : []);
foreach ($makers as $name => $make) {
    each_fails("new $name", $make);
}
unset($makers['dlock.server'], $makers['replicas'], $makers['ReadWriteLock'], $makers['Stock']);
foreach ($makers as $name => $make) {
    each_fails("$name: a lease", function () use ($make) {
        static $number = 0; // what cannot be given back without memory stays until its end
        $lock = $make();
        $lease = $lock->acquire(unique('memory') . ++$number, timeout: 10);
        $lease->isHeld() || throw new Error('not held');
        $lease->release() || throw new Error('not released');
    });
}
$stock = new Dlock\Stock('memory://');
each_fails('Stock: a named change', function () use ($stock) {
    static $sku = 0, $change = 0;
    $name = 'change' . ++$change;
    $before = $stock->counts((string) $sku)['available'];
    try {
        $stock->restock((string) $sku, 5, change: $name);
    } catch (Throwable $problem) {
    }
    $stock->restock((string) $sku, 5, change: $name);
    same($before + 5, $stock->counts((string) $sku)['available'], 'it counts once');
    isset($problem) && throw $problem;
});
echo "done\n";
PHP;
$memcached = new PrivateMemcached();
$child = php_child($code, [], '', ['INC' => dirname(__DIR__) . '/inc', 'LD_PRELOAD' => $library, 'MEMCACHED' => $memcached->dsn()]);
echo $child->readAll(60);
$child->wait();
?>
--EXPECT--
done
