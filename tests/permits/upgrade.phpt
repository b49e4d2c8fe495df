--TEST--
A reader becomes the writer, and the writer a reader: who waits for whom, two upgrades at once, holders and waiters that die, and what is refused
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
use Dlock\ConnectionException;
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
        $keeper = $where === 'redis' ? keep_alive([redis_addresses()[0]], "ReadWriteLock:$name") : null;
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

        // ---- a writer that acquired as one ----
        $lease = $write->acquire($name, 60);
        $lease->downgrade();
        $other = $read->acquire($name, 60, 60); // ends by itself
        fails(AcquireTimeoutException::class, "The lock \"$name\" was read by others for 0 s: the lease is a reader's as before", fn () => $lease->upgrade(0));
        fails(AcquireTimeoutException::class, '*', fn () => $lease->upgrade(0.05), "$what: others read");
        same([true, true], [$lease->isHeld(), $read->acquire($name, 60)->release()], "$what: it is a reader as before");
        unset($lease, $other);

        // ---- an upgrade waits for readers; new readers wait; it is before a writer; a second one is refused ----
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

        // ---- an upgrade is ahead of a waiting writer; a downgrade admits waiting readers, but no writer ----
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

        // ---- an upgrade times out: the waiting readers are served ----
        $order = [];
        Strands::spawn(function () use ($read, $name, $waits, &$order, $what, $where) {
            [$one, $two] = [$read->acquire($name, 60), null];
            Strands::spawn(function () use ($read, $name, &$order, $what) {
                $other = $read->acquire($name, 60);
                fails(AcquireTimeoutException::class, '*', fn () => $other->upgrade(1), "$what: it gives up");
                Strands::until(function () use (&$order) {
                return $order === ['reader'];
            }, 60);
            });
            $waits($name, 1);
            // This strand reads already: the upgrade waits for it.
            $where === 'redis' && fails(DeadlockException::class, '*', fn () => $read->acquire($name, 60), "$what: a reader behind one that waits for it");
            Strands::spawn(function () use ($read, $name, &$order) {
                $reader = $read->acquire($name, 60);
                $order[] = 'reader';
            });
            Strands::until(function () use (&$order) {
                return $order === ['reader'];
            }, 60);
        });
        Strands::run();
        same(['reader'], $order, "$what: after it has given up");

        // ---- a second reader of the same process: the upgrade would wait for itself ----
        $one = $read->acquire($name, 60);
        $two = $read->acquire($name, 60);
        fails(DeadlockException::class, '*', fn () => $one->upgrade(30), "$what: two of the same process");
        unset($two);
        $one->upgrade(0);

        // ---- another process attaches the writer, which becomes a reader there ----
        $copy = $read instanceof Dlock\LockManager && $where === 'redis' ? $read->attach($one->detach()) : $one;
        same(null, $read->tryAcquire($name), "$what: attached, it is the writer");
        $copy->downgrade();
        same(true, $read->acquire($name, 60)->release(), "$what: and a reader");
        unset($copy, $one);
        same(false, $read->isLocked($name), "$what: nothing is left of all that");

        // ---- leases that have ended ----
        $lease = $read->acquire($name, 60);
        $lease->release();
        fails(LeaseLostException::class, '*', fn () => $lease->upgrade(0), "$what: released");
        fails(LeaseLostException::class, '*', fn () => $lease->downgrade(), "$what: released");
        $keeper?->kill();
    }
}

// ---- a waiter that dies ----
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

// ---- the lease of a waiting upgrade ends: it is told at that time, not at its timeout ----
foreach ([redis_server(), 'memory://'] as $server) {
    $lock = new Dlock\ReadWriteLock($server);
    $name = unique('ends');
    // The upgrade lacks a permit even if its own has returned.
    [$one, $other] = [$lock->readLock()->acquire($name, 60), $lock->readLock()->acquire($name, 60)];
    $two = null;
    Strands::spawn(function () use ($lock, $name, &$two) {
        $two = $lock->readLock()->acquire($name, 60, 0.5);
        fails(LeaseLostException::class, '*', fn () => $two->upgrade(), 'its lease has ended');
    });
    Strands::run();
    same([LeaseState::Lost, 0], [$two->state(), $lock->readLock()->inspect($name)->waiting], 'and nobody waits');
    $other->release();
    $one->upgrade(60);
    $one->release();
}

// ---- two that disagree on fairness would still wait for each other ----
$name = unique('disagree');
$one = (new Dlock\ReadWriteLock(redis_server()))->readLock()->acquire($name, 60);
$child = fork_child(function (callable $say, callable $hear) use ($name) {
    $lease = (new Dlock\ReadWriteLock(redis_server(), fairness: 'fifo'))->readLock()->acquire($name, 60);
    $say('reads');
    $lease->upgrade(60);
    return $lease->release();
});
$child->hear();
$reads = (new Dlock\ReadWriteLock(redis_server()))->readLock();
wait_for(fn () => $reads->inspect($name)->waiting === 1, 60, 'it to wait');
fails(DeadlockException::class, '*', fn () => $one->upgrade(60), 'one of the phases, beside one of the queue');
same([true, true], [$one->release(), $child->result()], 'which goes on');

// ---- a waiting upgrade has died: the next one is not refused for it ----
$one = $reads->acquire($name, 60);
$dead = fork_child(function (callable $say) use ($reads, $name) {
    $lease = $reads->acquire($name, 60, 60);
    $say('reads');
    $lease->upgrade(60);
});
$dead->hear();
wait_for(fn () => $reads->inspect($name)->waiting === 1, 60, 'it to wait');
$waiter = redis_raw()->cmd('ZRANGEBYSCORE', "ReadWriteLock:$name", '1e15', '+inf')[0];
$dead->kill();
wait_for(fn () => redis_raw()->cmd('PUBSUB', 'NUMSUB', explode(' ', $waiter)[3])[1] === 0, 60, 'the server to notice');
fails(AcquireTimeoutException::class, '*', fn () => $one->upgrade(0.05), 'behind one that has died, whose lease lasts');
unset($one);

// ---- downgrade() without an answer: it may no longer be the writer, and no upgrade() may rely on its lease ----
$relay = relay(redis_addresses()[0]);
$write = (new Dlock\ReadWriteLock('redis://' . $relay->address()))->writeLock();
$name = unique('downgrade');
$lease = $write->acquire($name, 60, 60);
$relay->order(0, ['swallow' => true]);
fails(ConnectionException::class, '*', fn () => $lease->downgrade(), 'no answer');
$relay->order(0);
fails(DlockException::class, "An earlier downgrade() of the lock \"$name\" may still reach the server, and others would read: release, then acquire", fn () => $lease->upgrade(0), 'which may be executed late');
same([true, true], [$reads->acquire($name, 60, 60)->release(), $lease->isHeld()], 'it was executed');
$lease->downgrade();
same(true, $lease->release(), 'and it is given back');
$lease = $write->acquire($name, 60, 60);
$lease->downgrade();
$relay->order(0, ['swallow' => true]);
fails(ConnectionException::class, '*', fn () => $lease->upgrade(0), 'no answer');
$relay->order(0);
same(null, $reads->tryAcquire($name), 'upgrade() was executed');
$lease->upgrade(0);
same([true, true], [$lease->isHeld(), $lease->release()], 'once more');

// ---- neither call shortens a lease, because the holder would not know if it were executed late ----
foreach ([redis_server(), 'memory://'] as $server) {
    $lock = new Dlock\ReadWriteLock($server);
    $long = $lock->writeLock()->acquire($name, 60, 600);
    $lease = (new Dlock\ReadWriteLock($server, ttl: 60, renew: false))->writeLock()->attach($long->detach());
    $lease->downgrade();
    holds($lease->remaining() > 300, 'downgrade()', $lease->remaining());
    $lease->upgrade(0);
    holds($lease->remaining() > 300, 'upgrade()', $lease->remaining());
    $lease->release();
}

// ---- in memory, too, readers that a downgrade admits read from then on ----
Strands::spawn(function () {
    [$lock, $reads] = [new Dlock\ReadWriteLock('memory://'), []];
    $one = $lock->writeLock()->acquire('let in', 60);
    Strands::spawn(function () use ($lock, &$reads) {
        $reads[] = $lock->readLock()->acquire('let in', 60);
    });
    Strands::until(fn () => $lock->readLock()->inspect('let in')->waiting === 1, 60);
    $one->downgrade();
    fails(AcquireTimeoutException::class, '*', fn () => $one->upgrade(0), 'one that has yet to wake up');
    Strands::until(function () use (&$reads) {
        return count($reads) === 1;
    }, 60);
    $reads[0]->release();
    $one->upgrade(0);
});
Strands::run();

// ---- a loss ----
$lease = $reads->acquire($name, 60);
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
