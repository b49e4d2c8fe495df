--TEST--
Never are more permits out than the capacity, and no writer is beside another holder, even if processes are killed; a dead holder's permits return at the end of its lease
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
use Dlock\Semaphore;

/**
 * Counts in a file the permits in which holders believe, by process, so that dead ones can be told apart. A killed
 * holder has its permits until its lease ends.
 */
final class Tally
{
    private $file;

    public function __construct(string $path)
    {
        $this->file = fopen($path, 'c+');
    }

    /** Sets this process' permits, and returns the sum over all holders that may still rely on their permits. */
    public function set(int $permits, float $until): int
    {
        flock($this->file, LOCK_EX);
        rewind($this->file);
        $all = json_decode(stream_get_contents($this->file) ?: '[]', true);
        $all[getmypid()] = [$permits, $until];
        $sum = 0;
        foreach ($all as [$number, $end]) {
            $sum += $end > now() ? $number : 0;
        }
        ftruncate($this->file, 0);
        rewind($this->file);
        fwrite($this->file, json_encode($all));
        fflush($this->file);
        flock($this->file, LOCK_UN);
        return $sum;
    }
}

/**
 * Processes that acquire and release until they are killed or told to stop.
 * @param callable $acquire returns a lease or null, and its permits
 */
function contend(string $what, int $processes, float $seconds, int $capacity, callable $acquire): void
{
    $path = temporary_directory() . '/tally';
    $stop = "$path.stop";
    touch($path);
    $start = fn () => fork_child(function () use ($acquire, $path, $stop, $capacity) {
        $tally = new Tally($path);
        while (!file_exists($stop)) {
            [$lease, $permits] = $acquire();
            if ($lease !== null) {
                $sum = $tally->set($permits, now() + $lease->remaining());
                $sum <= $capacity || throw new RuntimeException("$sum of $capacity");
                pause(random_int(0, 2000) / 1e6);
                $tally->set(0, 0);
                $lease->release();
                file_put_contents("$path.sections", '.', FILE_APPEND);
            }
            clearstatcache();
        }
    });
    $children = [];
    for ($i = 0; $i < $processes; $i++) {
        $children[] = $start();
    }
    $until = now() + $seconds;
    $killed = 0;
    while (now() < $until || $killed < 4 || strlen((string) @file_get_contents("$path.sections")) <= 20) {
        pause(0.4);
        $i = array_rand($children);
        holds(!$children[$i]->hasSaid(), "$what: nobody has ended");
        $children[$i]->kill();
        $children[$i] = $start();
        $killed++;
    }
    touch($stop);
    foreach ($children as $child) {
        $child->result();
    }
}

// ---- never more than $limit permits are out at once, by the leases in which holders believe ----
$capacity = 4;
$semaphores = unique('semaphore');
contend('semaphore', 10, 4, $capacity, function () use ($semaphores, $capacity) {
    static $semaphore;
    $semaphore ??= new Semaphore($capacity, redis_server());
    $permits = random_int(1, 4);
    $lease = random_int(0, 3) ? $semaphore->acquire($semaphores, $permits, 30, 0.3) : $semaphore->tryAcquire($semaphores, $permits, 0.01, 0.3);
    return [$lease, $permits];
});
// All permits have returned once, also those of dead holders.
$semaphore = new Semaphore($capacity, redis_server());
wait_for(fn () => $semaphore->availablePermits($semaphores) === $capacity, 60, 'all permits to be back');
$lease = $semaphore->acquire($semaphores, $capacity, 30);
same([null, true], [$semaphore->tryAcquire($semaphores), $lease->release()], 'all of them, at the end, and no more');

$readers = unique('read-write');
contend('read/write lock', 10, 4, 1000, function () use ($readers) {
    static $lock;
    $lock ??= new ReadWriteLock(redis_server());
    return random_int(0, 3) ? [$lock->readLock()->acquire($readers, 30, 0.3), 1] : [$lock->writeLock()->acquire($readers, 30, 0.3), 1000];
});
same(true, (new ReadWriteLock(redis_server()))->writeLock()->acquire($readers, 30)->release(), 'a writer, at the end');

// ---- a dead holder's lease ends by the server's clock: its permits return then, and the first waiter has them at once
// ----
$resource = unique('dead');
$semaphore = new Semaphore(3, redis_server());
$lease = $semaphore->acquire($resource, ttl: 100);
$dead = fork_child(function (callable $say, callable $hear) use ($resource) {
    $lease = (new Semaphore(3, redis_server(), ttl: 12.0))->acquire($resource, 2); // renewed while the child lives
    $say(null);
    $hear();
});
$dead->hear();
pause(13);
same(0, $semaphore->availablePermits($resource), '"renewal keeps"');
$dead->kill();
$start = now();
same(null, $semaphore->tryAcquire($resource, 2), 'right after its death');
same(2, $semaphore->acquire($resource, 2, 30, 100)->permits, 'the next holder');
within(0.4, now() - $start, SOON, 'seconds until then');
same(true, $lease->isHeld() && $lease->release(), 'the one that lives');

// ---- dead waiters delay the next one by at most one grant ----
foreach (['Semaphore', 'ReadWriteLock'] as $kind) {
    $resource = unique("dead-waiter-$kind");
    $make = fn () => $kind === 'Semaphore' ? new Semaphore(1, redis_server()) : (new ReadWriteLock(redis_server()))->writeLock();
    $acquire = fn (float $timeout, ?float $ttl = null) => $kind === 'Semaphore' ? $make()->acquire($resource, 1, $timeout, $ttl) : $make()->acquire($resource, $timeout, $ttl);
    $holder = $acquire(0, 100);
    $waiters = [];
    for ($i = 0; $i < 4; $i++) {
        $waiters[] = $child = fork_child(fn (callable $say) => $acquire(60, 100)->release());
        at_end($child->kill(...));
        wait_for(fn () => counts_of("$kind:$resource", 1)['waiting'] > $i, 60, 'waiter ' . $i + 1);
    }
    foreach (array_slice($waiters, 0, 3) as $child) {
        $child->kill();
    }
    $start = now();
    same(true, $holder->release(), "$kind: release()");
    same(true, $waiters[3]->result(), "$kind: the fourth waiter");
    within(0, now() - $start, SOON, "$kind: seconds until it had it, behind three that were killed");
}

// ---- a holder whose lease has ended may still renew if no client needed its room ----
$resource = unique('over');
$lease = (new Semaphore(1, redis_server()))->acquire($resource, ttl: 6.0);
$key = "Semaphore:$resource";
[$redis, $renew] = [redis_raw(), fn () => redis_raw()->cmd('EVAL', script('permits_renew'), 1, $key, $lease->token, 5000, 0)];
wait_for(fn () => counts_of($key, 1)['held'] === 0, 60, 'the end of the lease on the server');
same(1, $renew(), 'it renews late');
same(1, counts_of($key, 1)['held'], 'and has its permit');
$redis->cmd('DEL', $key);
same(0, $renew(), 'one that has nothing');
echo "done\n";
?>
--EXPECT--
done
