--TEST--
Runtimes: a canceled wait ends at once, and leaves nothing, neither a place in a queue nor a grant
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

Strands::install();

/** A strand waits; $end acts on its fiber. @return the outcome of the wait */
function waits(StrandKind $kind, Dlock\LockManager $manager, string $resource, Closure $end, ?float $timeout = 60): array
{
    $result = $order = [];
    $fiber = Strands::spawn(function () use ($kind, $manager, $resource, $timeout, &$result, &$order) {
        try {
            try {
                $lease = $manager->acquire($resource, timeout: $timeout, ttl: $kind->ttl(100));
                $result = ['acquired', $lease->release()];
            } finally {
                $order[] = 'finally';
            }
        } catch (Throwable $e) {
            $result = [$e::class, $e->getMessage()];
        }
    });
    Strands::run(fn () => $fiber->isStarted() && (Strands::$suspensions > 0));
    $end($fiber);
    unset($fiber);
    Strands::run();
    same(['finally'], $order, "$kind->name: finally blocks");
    return $result;
}

foreach (strand_kinds() as $name => $kind) {
    $manager = $kind->manager();
    $resource = unique($name);

    // The waiter throws.
    $lease = $manager->acquire($resource, timeout: 0, ttl: $kind->ttl(100));
    Strands::$suspensions = 0;
    $cancel = false;
    Strands::$before = function () use (&$cancel) {
        $cancel && throw new LogicException('cancelled');
    };
    $result = waits($kind, $manager, $resource, function () use (&$cancel, $lease) {
        $cancel = true; // at the next wait
        $lease->refresh();
        Strands::$suspensions = 1000;
    }, 0.5);
    Strands::$before = null;
    holds($result === [LogicException::class, 'cancelled'] || $result[0] === Dlock\AcquireTimeoutException::class, "$name: the waiter throws", $result);

    // An exception is thrown into the fiber.
    Strands::$suspensions = 0;
    same([RuntimeException::class, 'into it'], waits($kind, $manager, $resource, function (Fiber $fiber) {
        Strands::drop();
        $fiber->throw(new RuntimeException('into it'));
    }), "$name: Fiber::throw()");

    // The fiber is dropped: the waiter is not called again.
    Strands::$suspensions = 0;
    same([], waits($kind, $manager, $resource, function () {
        Strands::drop();
    }), "$name: a fiber that is dropped");

    // The time limit.
    Strands::$suspensions = 0;
    same(Dlock\AcquireTimeoutException::class, waits($kind, $manager, $resource, fn () => null, 0.3)[0], "$name: the time limit");
    same(null, $manager->tryAcquire($resource, timeout: 0), "$name: it was held all the time");
    same(true, $lease->release(), "$name: release()");
    $kind->waitUntilGone($resource);

    // The grant has come, and then the fiber is dropped.
    if ($kind->isFair) {
        $lease = $manager->acquire($resource, timeout: 0, ttl: $kind->ttl(100));
        Strands::$suspensions = 0;
        $fiber = Strands::spawn(fn () => $manager->acquire($resource, timeout: 60, ttl: $kind->ttl(100)));
        Strands::run(fn () => Strands::$suspensions > 0);
        same(true, $lease->release(), "$name: release()");
        $manager->isLocked($resource); // receives what has come
        pause(0.05);
        $manager->isLocked($resource);
        Strands::drop();
        unset($fiber);
        $kind->waitUntilGone($resource);
    }
}

// Units of a stock.
$stock = new Dlock\Stock(redis_server());
$sku = unique('stock');
$stock->restock($sku, 1);
$first = $stock->reserve($sku, 'first', 'order');
$reserve = fn (string $buyer) => fn () => $stock->reserve($sku, $buyer, 'order', timeout: 60);
Strands::$suspensions = 0;
$fiber = Strands::spawn($reserve('dropped'));
Strands::run(fn () => Strands::$suspensions > 0);
Strands::drop();
unset($fiber);
same(0, $stock->counts($sku)['waiting'], 'Stock: nobody waits');
Strands::$suspensions = 0;
$fiber = Strands::spawn($reserve('granted'));
Strands::run(fn () => Strands::$suspensions > 0);
$first->cancel();
pause(0.05);
$stock->counts($sku);
Strands::drop();
unset($fiber);
wait_for(fn () => $stock->counts($sku)['available'] === 1, 60, 'the unit to be available');
echo "done\n";
?>
--EXPECT--
done
