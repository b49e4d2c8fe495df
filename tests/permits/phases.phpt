--TEST--
ReadWriteLock is phase-fair: a writer among 50 readers waits for no reader that came after it; after a writer all waiting readers read together; "fifo" on request
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';

use Dlock\ReadWriteLock;

/**
 * Waits in another process for a side of the lock; the process reports when it holds, and releases when it is told to.
 */
function waiter(string $side, string $resource, string $fairness): ForkedChild
{
    $child = fork_child(function (callable $say, callable $hear) use ($side, $resource, $fairness) {
        $lease = (new ReadWriteLock(redis_server(), fairness: $fairness))->{"{$side}Lock"}()->acquire($resource, 600, 100);
        $lasts = lasts($lease);
        $say([$lease->isHeld() || !$lasts, $lease->fencingToken]);
        $hear();
        return $lease->release() || !$lasts;
    });
    at_end($child->kill(...));
    return $child;
}

/** The waiters ask one after the other. @param list<string> $sides  @return list<ForkedChild> */
function line(array $sides, string $resource, string $fairness): array
{
    $line = [];
    foreach ($sides as $i => $side) {
        $line[] = waiter($side, $resource, $fairness);
        wait_for(fn () => counts_of("ReadWriteLock:$resource", ALL_PERMITS)['waiting'] >= $i + 1, 60, 'waiter ' . $i + 1);
    }
    return $line;
}

/** Which waiters hold by now, or have ended. @param list<ForkedChild> $line  @return list<int> */
function served(array $line): array
{
    return array_keys(array_filter($line, fn (ForkedChild $child) => $child->hasSaid()));
}

/** Tells all to release. @param list<ForkedChild> $children */
function release(array $children, string $what): void
{
    foreach ($children as $child) {
        $child->say('release');
    }
    foreach ($children as $child) {
        same(true, $child->result(), "$what: release()");
    }
}

// ---- a writer among 50 readers waits for no reader that came after it, and a reader waits for one writer at most ----
$resource = unique('among');
$lock = new ReadWriteLock(redis_server());
$before = array_map(fn () => $lock->readLock()->acquire($resource, ttl: 100), range(1, 25));
$keeper = keep_alive([redis_addresses()[0]], "ReadWriteLock:$resource");
$line = line(['write', ...array_fill(0, 25, 'read'), 'write'], $resource, 'phase');
same(null, $lock->readLock()->tryAcquire($resource), 'a reader that does not wait');
[$writer, $last] = [array_shift($line), array_pop($line)];
foreach (array_slice($before, 1) as $lease) {
    same(true, $lease->release(), 'a reader that came before');
}
same([], served([$writer, ...$line]), 'while one of them reads');
same(true, $before[0]->release(), 'the last one that came before');
[$held, $fence] = $writer->hear();
same(true, $held, 'the writer');
pause(0.1);
same([], served([...$line, $last]), 'while it writes');
release([$writer], 'the writer');
// After a writer all waiting readers read together.
foreach ($line as $i => $reader) {
    [$held, $later] = $reader->hear();
    same([true, true], [$held, $later > $fence], "reader $i that came after the writer");
}
pause(0.1);
same([], served([$last]), 'the second writer, while they read');
release($line, 'the readers');
same(true, $last->hear()[0], '"after readers the first writer"');
release([$last], 'the second writer');
$keeper->kill();

// ---- readers and writers that come in turn ----
$sides = ['read', 'write', 'read', 'write', 'read', 'write', 'read'];
$orders = [
    'phase' => [[0, 2, 4, 6], [1], [3], [5]], // behind the holder, a writer, all readers, then the writers
    'fifo' => [[0], [1], [2], [3], [4], [5], [6]],
];
foreach ($orders as $fairness => $phases) {
    $resource = unique($fairness);
    $holder = (new ReadWriteLock(redis_server(), fairness: $fairness))->writeLock()->acquire($resource, ttl: 100);
    $keeper = keep_alive([redis_addresses()[0]], "ReadWriteLock:$resource");
    $line = line($sides, $resource, $fairness);
    same(true, $holder->release(), "$fairness: the holder");
    foreach ($phases as $phase) {
        $now = array_intersect_key($line, array_flip($phase));
        foreach ($now as $i => $child) {
            same(true, $child->hear()[0], "$fairness: waiter $i");
        }
        pause(0.05);
        same([], served(array_diff_key($line, array_flip(array_merge(...array_slice($phases, 0, array_search($phase, $phases) + 1))))),
            "$fairness: who is served beside " . implode(', ', $phase));
        release($now, $fairness);
    }
    $keeper->kill();
}

// ---- neither side starves: readers that overlap without end, and writers that do ----
foreach (['write' => 'read', 'read' => 'write'] as $one => $many) {
    $resource = unique("starved-$one");
    $stop = temporary_directory() . '/stop';
    $crowd = [];
    for ($i = 0; $i < 6; $i++) {
        $crowd[] = $child = fork_child(function (callable $say) use ($resource, $many, $stop) {
            $side = (new ReadWriteLock(redis_server()))->{"{$many}Lock"}();
            for ($n = 0; !file_exists($stop); $n++) {
                $side->synchronized($resource, fn () => pause(0.004), 60, 100);
                $n === 3 && $say('busy');
                clearstatcache();
            }
            return $n;
        });
        at_end($child->kill(...));
    }
    array_map(fn (ForkedChild $child) => $child->hear(), $crowd);
    $side = (new ReadWriteLock(redis_server()))->{"{$one}Lock"}();
    for ($i = 0; $i < 20; $i++) {
        $lease = $side->tryAcquire($resource, 30, 100);
        same(true, $lease?->release(), "{$one}Lock(), beside six that use {$many}Lock()");
    }
    touch($stop);
    foreach ($crowd as $child) {
        holds($child->result() > 4, "{$many}Lock() goes on, beside {$one}Lock()");
    }
}
echo "done\n";
?>
--EXPECT--
done
