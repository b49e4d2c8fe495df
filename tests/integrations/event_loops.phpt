--TEST--
packages/revolt and packages/react: waits yield in their fibers
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require __DIR__ . '/../inc/loops.inc';

use React\EventLoop\Loop;
use Revolt\EventLoop;

use function React\Async\async;
use function React\Async\delay;

require integration('revolt/functions.php');
require integration('react/functions.php');

$locks = new DistributedLock(redis_server());
$raw = redis_raw();
$queued = fn (string $resource) => $raw->cmd('ZCARD', "dlock:queue:{Lock:$resource}");

// ---- Revolt ----
Dlock\Revolt\install();
$resource = unique('revolt');
$order = new ArrayObject();
for ($i = 0; $i < 10; $i++) {
    EventLoop::queue(function () use ($locks, $resource, $order, $i) {
        $lease = $locks->acquire($resource, 60);
        $suspension = EventLoop::getSuspension();
        EventLoop::delay(0.005, fn () => $suspension->resume());
        $suspension->suspend();
        $order[] = $i;
        same(true, $lease->release(), 'Revolt: release()');
    });
}
EventLoop::run();
same(10, count($order), 'Revolt: all have it');

// {main} waits, and runs the loop meanwhile.
EventLoop::queue(function () use ($locks, $resource) {
    $lease = $locks->acquire($resource, 0);
    $suspension = EventLoop::getSuspension();
    EventLoop::delay(0.1, fn () => $suspension->resume());
    $suspension->suspend();
    $lease->release();
});
$suspension = EventLoop::getSuspension();
EventLoop::delay(0.02, fn () => $suspension->resume());
$suspension->suspend();
same(true, $locks->acquire($resource, 60)->release(), 'Revolt: {main} waits');

// ---- amphp, whose tasks are fibers of Revolt ----
if (function_exists('Amp\async')) { // amphp has no double
    $order = new ArrayObject();
    Amp\Future\await(array_map(fn (int $i) => Amp\async(function () use ($locks, $resource, $order, $i) {
        $locks->synchronized($resource, function () use ($order, $i) {
            Amp\delay(0.005);
            $order[] = $i;
        }, 60);
    }), range(0, 9)));
    same(range(0, 9), $order->getArrayCopy(), 'amphp: in order');
}

// ---- React ----
Dlock\React\install();
$resource = unique('react');
$order = new ArrayObject();
for ($i = 0; $i < 10; $i++) {
    async(function () use ($locks, $resource, $order, $i) {
        $lease = $locks->acquire($resource, 60);
        delay(0.005);
        $order[] = $i;
        same(true, $lease->release(), 'React: release()');
    })();
}
Loop::get()->run();
same(10, count($order), 'React: all have it');

$lease = $locks->acquire($resource, 0, 100); // in {main} nothing is suspended
$thrown = null;
$promise = async(function () use ($locks, $resource, &$thrown) {
    $thrown = thrown_by(fn () => $locks->acquire($resource, 60));
})();
Loop::get()->addTimer(0.1, function () use ($promise, $queued, $resource) {
    same(1, $queued($resource), 'React: it is in the queue');
    $promise->cancel();
});
Loop::get()->run();
same('The wait for a lock was cancelled', $thrown?->getMessage(), 'React: cancel()');
wait_for(fn () => $queued($resource) === 0, 60, 'its place to be given back');
same(true, $lease->release(), 'React: release() in {main}');
echo "done\n";
?>
--EXPECT--
done
