--TEST--
Permits: a process that would wait behind a waiter for its own permits gets a DeadlockException at once
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';

use Dlock\DeadlockException;
use Dlock\ReadWriteLock;
use Dlock\Semaphore;

const MESSAGE = 'This process would wait for itself: it is behind one that waits for what this process holds of "*" already';

/** Another process, which waits for the resource. */
function stranger(string $key, int $capacity, callable $acquire): ForkedChild
{
    $child = fork_child(fn () => $acquire()->release());
    at_end($child->kill(...));
    wait_for(fn () => counts_of($key, $capacity)['waiting'] === 1, 60, 'the stranger');
    return $child;
}

ini_set('dlock.ttl', '60');
foreach (['phase', 'fifo'] as $fairness) {
    $resource = unique($fairness);
    $keeper = keep_alive([redis_addresses()[0]], "ReadWriteLock:$resource");
    $reads = (new ReadWriteLock(redis_server(), fairness: $fairness))->readLock();
    $held = $reads->acquire($resource);
    same(true, $reads->acquire($resource, 30)->release(), "$fairness: a nested reader, while nobody waits");
    $writer = stranger("ReadWriteLock:$resource", ALL_PERMITS, fn () => (new ReadWriteLock(redis_server(), fairness: $fairness))->writeLock()->acquire($resource, 60, 100));
    within(0, seconds(fn () => fails(DeadlockException::class, MESSAGE, fn () => $reads->acquire($resource, 60))), SOON, "$fairness: behind a writer");
    same(1, counts_of("ReadWriteLock:$resource", ALL_PERMITS)['waiting'], 'it does not wait any more');
    same([true, true], [$held->release(), $writer->result()], 'then it is the writer\'s turn');
    $keeper->kill();
}

// With a semaphore it is a deadlock only if this process' permits are too many for the waiter before it.
$resource = unique('semaphore');
$keeper = keep_alive([redis_addresses()[0]], "Semaphore:$resource", grants: false);
$semaphore = new Semaphore(5, redis_server());
$held = $semaphore->acquire($resource, 1);
$others = fork_child(function (callable $say, callable $hear) use ($resource) {
    $lease = (new Semaphore(5, redis_server()))->acquire($resource, 2, 60, 100);
    $say('holds');
    $hear();
    return $lease->release();
});
$others->hear();
$stranger = stranger("Semaphore:$resource", 5, fn () => (new Semaphore(5, redis_server()))->acquire($resource, 4, 60, 100));
same(null, $semaphore->tryAcquire($resource, 1, 0.3, 100), 'it waits for the others, and so does who is before it');
$others->say('release');
same([true, true], [$others->result(), $stranger->result()], 'which end');
$stranger = stranger("Semaphore:$resource", 5, fn () => (new Semaphore(5, redis_server()))->acquire($resource, 5, 60, 100));
fails(DeadlockException::class, MESSAGE, fn () => $semaphore->acquire($resource, 1, 60), 'all five cannot be had while this process has one');
same([true, true], [$held->release(), $stranger->result()], 'in the end');

// A lease that is not renewed forever ends by itself.
$held = $semaphore->acquire($resource, 1, ttl: 1.5);
$stranger = stranger("Semaphore:$resource", 5, fn () => (new Semaphore(5, redis_server()))->acquire($resource, 5, 60, 100));
same(true, $semaphore->acquire($resource, 1, 60)->release(), 'it is waited for');
same(true, $stranger->result(), 'by both');
echo "done\n";
?>
--EXPECT--
done
