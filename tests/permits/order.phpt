--TEST--
Semaphore: 100 waiters for 10 permits are served in the order of their tickets; no waiter is passed by one that wants less
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';
require __DIR__ . '/../inc/lease.inc';

use Dlock\Semaphore;

const CAPACITY = 10;

/** Waits in another process, which reports when it is served, and waits for a word to continue. */
function waiter(string $server, string $resource, int $permits): ForkedChild
{
    $child = fork_child(function (callable $say, callable $hear) use ($server, $resource, $permits) {
        $lease = (new Semaphore(CAPACITY, $server))->acquire($resource, $permits, 600, 100);
        $lasts = lasts($lease);
        $say([$lease->fencingToken, $lease->permits, $lease->isHeld() || !$lasts]);
        $hear();
        return $lease->release() || !$lasts;
    });
    at_end($child->kill(...));
    return $child;
}

/** Waiters with these numbers of permits, which ask one after the other. @return list<ForkedChild> */
function line(string $resource, array $permits, ?PrivateRedis $private = null): array
{
    $line = [];
    foreach ($permits as $i => $number) {
        $line[] = waiter($private ? 'redis://' . $private->address() : redis_server(), $resource, $number);
        wait_for(fn () => counts_of("Semaphore:$resource", CAPACITY, $private?->raw())['waiting'] >= $i + 1, 60, 'waiter ' . $i + 1);
    }
    return $line;
}

/** Which waiters were served by now. @param list<ForkedChild> $line  @return list<int> */
function served(array $line): array
{
    return array_keys(array_filter($line, fn (ForkedChild $child) => $child->hasSaid()));
}

// ---- 100 waiters for 10 permits are served in the order of their tickets ----
$semaphore = new Semaphore(CAPACITY, redis_server());
$resource = unique('hundred');
$holders = array_map(fn () => $semaphore->acquire($resource, ttl: 100), range(1, CAPACITY));
$keeper = keep_alive([redis_addresses()[0]], "Semaphore:$resource");
$line = line($resource, array_fill(0, 100, 1));
$release = fn (int $i) => $i < CAPACITY ? $holders[$i]->release() : ($line[$i - CAPACITY]->say('release') ?? $line[$i - CAPACITY]->result());
$fences = [];
foreach ($line as $i => $child) {
    same(true, $release($i), "release $i");
    [$fences[], $permits, $held] = $child->hear();
    same([1, true], [$permits, $held], "waiter $i");
    $next = array_slice($line, $i + 1, 3);
    same([], served($next), "those behind waiter $i");
}
$sorted = $fences;
sort($sorted);
same($sorted, $fences, 'fencing tokens in the order of tickets');
for ($i = 100; $i < 110; $i++) {
    same(true, $release($i), "release $i");
}
$keeper->kill();
same(['all' => CAPACITY, 'available' => CAPACITY, 'held' => 0, 'waiting' => 0], counts_of("Semaphore:$resource", CAPACITY), 'in the end');

// ---- a client gets no permits before a living waiter that asked earlier, even if it wants less, which would fit ----
$resource = unique('large');
$holder = $semaphore->acquire($resource, 6, ttl: 100);
$keeper = keep_alive([redis_addresses()[0]], "Semaphore:$resource");
[$large, $small] = $line = line($resource, [CAPACITY, 1]);
same([null, 4], [$semaphore->tryAcquire($resource), $semaphore->availablePermits($resource)], 'one that does not wait does not overtake either');
pause(0.2); // time for a mistake
same([], served($line), 'four permits are free: the first waiter wants ten, the second one');
$holder->release();
same(CAPACITY, $large->hear()[1], 'the large request is served first');
pause(0.1);
same([], served([$small]), 'and the small one after it');
foreach ($line as $child) {
    $child === $large || $child->hear();
    $child->say('release');
    same(true, $child->result(), 'release()');
}
$keeper->kill();

// ---- a release or an expiry grants permits to all first waiters that now fit, in one step, with one message each ----
$private = redis_private();
$semaphore = new Semaphore(CAPACITY, 'redis://' . $private->address());
foreach (['a release', 'an expiry'] as $what) {
    $resource = unique($what);
    $holder = $semaphore->acquire($resource, CAPACITY, ttl: 100);
    $keeper = keep_alive([$private->address()], "Semaphore:$resource");
    $line = line($resource, [3, 4, 2, 3, 1], $private);
    $messages = fn () => command_counts($private->raw())['publish'] ?? 0;
    $before = $messages();
    $what === 'a release' ? $holder->release() : $private->raw()->cmd('ZADD', "Semaphore:$resource", 'XX', (int) (wall_ms() - 1), "h$holder->token");
    same([3, 4, 2], array_map(fn (ForkedChild $child) => $child->hear()[1], array_slice($line, 0, 3)), "$what: those that fit are served");
    pause(0.1);
    same([], served(array_slice($line, 3)), "$what: the fourth does not fit, and the fifth would");
    same(1, $semaphore->availablePermits($resource), "$what: what is left");
    // The first waiter itself may find that a lease has ended; then it needs no message.
    within($what === 'a release' ? 3 : 2, $messages() - $before, 3, "$what: messages");
    foreach ($line as $i => $child) {
        $i < 3 || $child->hear();
        $child->say('release');
        same(true, $child->result(), "$what: release() of waiter $i");
    }
    unset($holder);
    $keeper->kill();
}
echo "done\n";
?>
--EXPECT--
done
