--TEST--
Runtimes: a fork while strands wait: in the child their calls end, in the parent they continue
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/openmetrics.inc';

Strands::install();
foreach (strand_kinds() as $name => $kind) {
    $manager = $kind->manager();
    $resource = unique($name);
    $lease = $manager->acquire($resource, timeout: 0, ttl: $kind->ttl(100));
    $got = new ArrayObject();
    Strands::$suspensions = 0;
    for ($i = 0; $i < 3; $i++) {
        Strands::spawn(function () use ($kind, $manager, $resource, $got, $i) {
            $got[$i] = thrown_by(function () use ($kind, $manager, $resource, &$mine) {
                $mine = $manager->acquire($resource, timeout: 60, ttl: $kind->ttl(100));
                Strands::pause(0.005);
                $mine->release();
            });
        });
    }
    Strands::run(fn () => Strands::$suspensions >= 3);
    // Answers have come of which the strands do not know: they were suspended before, and have not continued.
    for ($i = 0; $i < 3; $i++) {
        $manager->isLocked($resource);
    }
    $child = fork_child(function () use ($kind, $got, $name) {
        if ($name !== 'memory') { // the child's own waits
            $own = $kind->manager();
            $mine = $own->acquire(unique("$name-child"), timeout: 10, ttl: $kind->ttl(100));
            $mine->release();
        }
        Strands::hurry();
        Strands::run();
        holds(open_metrics(Dlock\metrics())['dlock_waiting'] < 1e6, "$name: the child does not count the parent's waits as ended");
        $got->ksort();
        return array_map(fn (?Throwable $e) => $e ? [$e::class, $e->getMessage()] : null, $got->getArrayCopy());
    });
    same(array_fill(0, 3, [Dlock\LeaseLostException::class, 'The wait began in a parent process']), $child->result(), "$name: the child");
    same(true, $lease->release(), "$name: release()");
    Strands::run();
    $got->ksort();
    same([null, null, null], $got->getArrayCopy(), "$name: in the parent all have it");
    $kind->waitUntilGone($resource);
}

// Units of a stock.
foreach (['Redis' => redis_server(), 'memory' => 'memory://strands'] as $name => $dsn) {
    $stock = new Dlock\Stock($dsn);
    $sku = unique('stock');
    $stock->restock($sku, 1);
    $first = $stock->reserve($sku, 'first', 'order', ttl: 100);
    $got = new ArrayObject();
    for ($i = 0; $i < 3; $i++) {
        Strands::spawn(function () use ($stock, $sku, $got, $i) {
            $got[$i] = thrown_by(fn () => $stock->reserve($sku, "buyer-$i", 'order', timeout: 60, ttl: 100)->cancel());
        });
    }
    Strands::run(fn () => $stock->counts($sku)['waiting'] === 3);
    $child = fork_child(function () use ($got) {
        Strands::hurry();
        Strands::run();
        $got->ksort();
        return array_map(fn (?Throwable $e) => $e ? [$e::class, $e->getMessage()] : null, $got->getArrayCopy());
    });
    same(array_fill(0, 3, [Dlock\LeaseLostException::class, 'The wait began in a parent process']), $child->result(), "a stock, $name: the child");
    same(true, $first->cancel(), "a stock, $name: cancel()");
    Strands::run();
    $got->ksort();
    same([null, null, null], $got->getArrayCopy(), "a stock, $name: in the parent all have it");
    same([1, 0], [$stock->counts($sku)['available'], $stock->counts($sku)['waiting']], "a stock, $name: nothing is left");
}
echo "done\n";
?>
--EXPECT--
done
