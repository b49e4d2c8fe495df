--TEST--
A reader becomes the writer, and the writer a reader: who waits for whom, two that want it, whoever dies, and what is refused
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/strands.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\DlockException;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

ini_set('dlock.ttl', '60');
Strands::install();
foreach (['phase', 'fifo'] as $fairness) {
    foreach (['redis' => redis_server(), 'memory' => 'memory://'] as $where => $server) {
        $what = "$where, $fairness";
        $lock = new Dlock\ReadWriteLock($server, fairness: $fairness);
        [$read, $write] = [$lock->readLock(), $lock->writeLock()];
        $waits = fn (string $name, int $count) => Strands::until(fn () => $read->inspect($name)->waiting === $count, 60);

        // ---- the only reader ----
        $name = unique("$where-$fairness");
        $lease = $read->acquire($name, 60);
        [$token, $fence] = [$lease->token, $lease->fencingToken];
        same(null, $lease->upgrade(0), "$what: upgrade()");
        holds($lease->fencingToken > $fence, "$what: a greater fencing token", $fence, $lease->fencingToken);
        same([$token, true, null, null], [$lease->token, $lease->isHeld(), $read->tryAcquire($name), $write->tryAcquire($name)], "$what: it is the writer");
        $fence = $lease->fencingToken;
        $lease->upgrade();
        same($fence, $lease->fencingToken, "$what: the writer stays one");
        $lease->downgrade();
        $lease->downgrade();
        same([true, null, true], [$lease->isHeld(), $write->tryAcquire($name), $read->acquire($name, 60)->release()], "$what: it is a reader");
        $lease->upgrade(0);
        holds($lease->fencingToken > $fence, "$what: a greater fencing token each time");
        same([true, true], [$lease->release(), $write->acquire($name, 60)->release()], "$what: all is given back");

        // ---- a writer by acquisition ----
        $lease = $write->acquire($name, 60);
        $lease->downgrade();
        $other = $read->acquire($name, 60, 60); // which ends by itself
        fails(AcquireTimeoutException::class, "The lock \"$name\" was read by others for 0 s: the lease is a reader's as before", fn () => $lease->upgrade(0));
        fails(AcquireTimeoutException::class, '*', fn () => $lease->upgrade(0.05), "$what: others read");
        same([true, true], [$lease->isHeld(), $read->acquire($name, 60)->release()], "$what: it is a reader as before");
        unset($lease, $other);

        // ---- it waits for readers; new ones wait; it is before a writer; a second one is refused ----
        $order = [];
        Strands::spawn(function () use ($read, $write, $name, $waits, &$order, $what) {
            [$one, $two] = [$read->acquire($name, 60), null];
            Strands::spawn(function () use ($read, $name, &$order, $what, $waits) {
                $second = $read->acquire($name, 60);
                $waits($name, 1);
                fails(DeadlockException::class, '*', fn () => $second->upgrade(30), "$what: a second one");
                same(LeaseState::Held, $second->state(), "$what: which stays a reader");
                Strands::spawn(function () use ($read, $name, &$order) {
                    $reader = $read->acquire($name, 60);
                    $order[] = 'reader';
                });
                $waits($name, 2);
                $order[] = 'second';
                $second->release();
            });
            Strands::until(fn () => count($read->inspect($name)->holders) === 2, 60);
            $one->upgrade(60);
            $order[] = 'upgraded';
            Strands::spawn(function () use ($write, $name, &$order) {
                $writer = $write->acquire($name, 60);
                $order[] = 'writer';
            });
            $waits($name, 2);
            same([null], [$read->tryAcquire($name)], "$what: nobody else");
            $one->release();
        });
        Strands::run();
        same(['second', 'upgraded', 'reader', 'writer'], $order, "$what: the order");
        same(false, $read->isLocked($name), "$what: nothing is left");

        // ---- ahead of a writer that waits; readers that wait come in with a downgrade, no writer does ----
        $order = [];
        Strands::spawn(function () use ($read, $write, $name, $waits, &$order) {
            $one = $read->acquire($name, 60);
            Strands::spawn(function () use ($write, $name, &$order) {
                $writer = $write->acquire($name, 60);
                $order[] = 'writer';
            });
            $waits($name, 1);
            $one->upgrade(0);
            $order[] = 'upgraded';
            $one->downgrade();
            $order[] = 'reader';
            $one->release();
        });
        Strands::run();
        same(['upgraded', 'reader', 'writer'], $order, "$what: ahead of a writer");
        $order = [];
        Strands::spawn(function () use ($read, $write, $name, $waits, &$order) {
            $one = $write->acquire($name, 60);
            Strands::spawn(function () use ($read, $name, &$order) {
                $reader = $read->acquire($name, 60);
                $order[] = 'reader';
            });
            $waits($name, 1);
            $one->downgrade();
            Strands::until(function () use (&$order) {
                return $order === ['reader'];
            }, 60);
            same(true, $one->isHeld(), 'both read');
        });
        Strands::run();
        same(['reader'], $order, "$what: a reader that waited");

        // ---- it gives up: the readers that wait are served ----
        $order = [];
        Strands::spawn(function () use ($read, $name, $waits, &$order, $what) {
            [$one, $two] = [$read->acquire($name, 60), null];
            Strands::spawn(function () use ($read, $name, &$order, $what) {
                $other = $read->acquire($name, 60);
                fails(AcquireTimeoutException::class, '*', fn () => $other->upgrade(1), "$what: it gives up");
                Strands::until(function () use (&$order) {
                return $order === ['reader'];
            }, 60);
            });
            $waits($name, 1);
            $reader = $read->acquire($name, 60);
            $order[] = 'reader';
        });
        Strands::run();
        same(['reader'], $order, "$what: after it has given up");

        // ---- its own second reader: it would wait for itself ----
        $one = $read->acquire($name, 60);
        $two = $read->acquire($name, 60);
        fails(DeadlockException::class, '*', fn () => $one->upgrade(30), "$what: two of the same process");
        unset($two);
        $one->upgrade(0);

        // ---- the writer goes to another process, and is a reader there ----
        $copy = $read instanceof Dlock\LockManager && $where === 'redis' ? $read->attach($one->detach()) : $one;
        same(null, $read->tryAcquire($name), "$what: attached, it is the writer");
        $copy->downgrade();
        same(true, $read->acquire($name, 60)->release(), "$what: and a reader");
        unset($copy, $one);
        same(false, $read->isLocked($name), "$what: nothing is left of all that");

        // ---- what has ended ----
        $lease = $read->acquire($name, 60);
        $lease->release();
        fails(LeaseLostException::class, '*', fn () => $lease->upgrade(0), "$what: released");
        fails(LeaseLostException::class, '*', fn () => $lease->downgrade(), "$what: released");
    }
}

// ---- whoever dies as he waits ----
$lock = new Dlock\ReadWriteLock(redis_server());
$name = unique('dies');
$one = $lock->readLock()->acquire($name, 60);
$dead = fork_child(function (callable $say) use ($lock, $name) {
    $lease = $lock->readLock()->acquire($name, 60);
    $say('reads');
    $lease->upgrade(60);
});
$dead->hear();
wait_for(fn () => $lock->readLock()->inspect($name)->waiting === 1, 60, 'it to wait');
$dead->kill();
same(true, $lock->readLock()->acquire($name, 60)->release(), 'a reader behind one that has died');
$one->release();

// ---- a loss ----
$lease = $lock->readLock()->acquire($name, 60);
redis_raw()->cmd('DEL', "ReadWriteLock:$name");
fails(LeaseLostException::class, '*', fn () => $lease->upgrade(0), 'what the server has for nobody');
same(LeaseState::Lost, $lease->state(), 'and it is lost');

// ---- what is refused ----
$lease = (new DistributedLock(redis_server()))->acquire($name, 60);
fails(Error::class, 'Only a lease of Dlock\ReadWriteLock is a reader\'s or a writer\'s', fn () => $lease->upgrade());
$lease = (new Dlock\Semaphore(2, redis_server()))->acquire($name, 1, 60);
fails(Error::class, '*', fn () => $lease->downgrade());
if (class_exists('ZkLock', false)) {
    $lease = (new Dlock\ReadWriteLock('zookeeper://' . zk_hosts()))->readLock()->acquire($name, 60);
    fails(DlockException::class, 'On ZooKeeper a reader cannot become the writer*', fn () => $lease->upgrade());
    fails(DlockException::class, '*', fn () => $lease->downgrade());
}
echo "done\n";
?>
--EXPECT--
done
