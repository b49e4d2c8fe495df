--TEST--
onLoss: "throw": a loss that isLocking() or expire() has told is not thrown with the next one; a section's end reports one that it caught
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$locks = new DistributedLock(redis_server(), ttl: 600.0, onLoss: 'throw'); // no renewal is due meanwhile
foreach (['isLocking' => [], 'expire' => [60]] as $method => $arguments) {
    $told = unique("$method told");
    same(true, $locks->lock($told, 10), "$method(): lock()");
    redis_raw()->cmd('DEL', "Lock:$told");
    same(false, $locks->$method($told, ...$arguments), "$method()");
    $next = patiently(fn () => $locks->acquire(unique("$method next"), 60, 0.5));
    $e = thrown_by(fn () => busy(20));
    same(["The lock \"$next->resource\" was lost while it was held", null], [$e?->getMessage(), $e?->getPrevious()?->getMessage()], "$method(): what is thrown");
}

// The section's exception has the object number of the one that it caught.
$outer = unique('outer');
$inner = $locks->acquire(unique('inner'), 10);
$inner->release();
$section = function () use ($inner, &$same) {
    $id = spl_object_id(thrown_by(fn () => busy(20)));
    try {
        $inner->assertHeld();
    } catch (Dlock\LeaseLostException $e) {
        $same = spl_object_id($e) === $id;
        throw $e;
    }
};
$e = thrown_by(fn () => patiently(fn () => $locks->synchronized($outer, $section, 60, 0.5)));
same(true, $same, 'the number of the exception');
same(["The lock \"$outer\" was lost before its critical section ended", "The lock \"$inner->resource\" has been released or detached"],
    [$e?->getMessage(), $e?->getPrevious()?->getMessage()], 'a loss that was caught, and another exception');
echo "done\n";
?>
--EXPECT--
done
