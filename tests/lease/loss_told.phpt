--TEST--
onLoss: "throw": a loss that isLocking() or expire() has told is not thrown with the next one
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$locks = new DistributedLock(redis_server(), ttl: 600.0, onLoss: 'throw'); // nothing is renewed meanwhile
foreach (['isLocking' => [], 'expire' => [60]] as $method => $arguments) {
    $told = unique("$method told");
    same(true, $locks->lock($told, 10), "$method(): lock()");
    redis_raw()->cmd('DEL', "Lock:$told");
    same(false, $locks->$method($told, ...$arguments), "$method()");
    $next = $locks->acquire(unique("$method next"), 10, 0.5);
    $e = thrown_by(fn () => busy(20));
    same(["The lock \"$next->resource\" was lost while it was held", null], [$e?->getMessage(), $e?->getPrevious()?->getMessage()], "$method(): what is thrown");
}
echo "done\n";
?>
--EXPECT--
done
