--TEST--
reentrant: true: a strand that holds a lock acquires it again without a server, and the last release releases it; ends, times and losses
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_databases();
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/memcached.inc';
require __DIR__ . '/../inc/database.inc';
require __DIR__ . '/../inc/strands.inc';

use Dlock\DeadlockException;
use Dlock\DlockException;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

ini_set('dlock.ttl', '30');
$memcached = new PrivateMemcached();
$databases = private_databases();
$kinds = [
    'DistributedLock' => fn (mixed ...$options) => new DistributedLock(redis_server(), ...$options),
    'RedLock' => fn (mixed ...$options) => new RedLock(redis_servers(3), ...$options),
    'memory' => fn (mixed ...$options) => new DistributedLock('memory://', ...$options),
    'memcached' => fn (mixed ...$options) => new DistributedLock($memcached->dsn(), ...$options),
];
foreach ($databases as $kind => $server) {
    $kinds[$kind] = fn (mixed ...$options) => new DistributedLock($server->dsn('create=1&guard=1000'), ...$options);
}
if (class_exists('ZkLock', false)) {
    $kinds['ZkLock'] = fn (mixed ...$options) => new ZkLock(zk_hosts(), ...['sessionTimeout' => 30.0] + $options);
}
$counts = fn () => [Dlock\stats()['acquisitions'], Dlock\stats()['releases']];

foreach ($kinds as $name => $make) {
    $resource = unique($name);
    $of_session = $name === 'ZkLock';
    [$one, $two, $plain] = [$make(reentrant: true), $make(reentrant: true), $make()];
    $waits = fn () => fails(DeadlockException::class, '*', fn () => $plain->acquire($resource, 30), "$name: who is not reentrant");
    $is_free = function (string $what) use ($plain, $resource, $name) {
        same(true, $plain->acquire($resource, 60)->release(), "$name: free $what");
    };

    // ---- leases ----
    $outer = $one->acquire($resource, 60);
    $before = $counts();
    $inner = $two->acquire($resource, 0);
    $third = $one->tryAcquire($resource);
    same([$outer->token, $outer->fencingToken, $resource, [$resource]], [$inner->token, $inner->fencingToken, $inner->resource, $inner->resources], "$name: one token");
    same($before, $counts(), "$name: no acquisition");
    $waits();
    same([true, LeaseState::Released, false], [$outer->release(), $outer->state(), $outer->release()], "$name: the first one is released");
    same([LeaseState::Held, true, true], [$inner->state(), $third->isHeld(), $two->isLocked($resource)], "$name: the others hold it");
    $waits();
    fails(DlockException::class, $of_session ? '*' : '*more than once*', fn () => $inner->detach(), "$name: detach()");
    $asks = method_exists($two, 'isLocking');
    same(true, !$asks || $two->isLocking($resource), "$name: isLocking() of who entered it");
    unset($third);
    same([true, false], [$inner->isHeld(), $inner->release() && $inner->isHeld()], "$name: the last one");
    same($before[1] + 1, $counts()[1], "$name: released once");
    $is_free('after the last release');

    // ---- sections, in sections; dropped leases ----
    same('done', $one->synchronized($resource, fn () => $two->synchronized($resource, function () use ($one, $resource) {
        (function () use ($one, $resource) {
            $dropped = $one->acquire($resource, 0);
        })();
        return 'done';
    })), "$name: synchronized() in synchronized()");
    $is_free('after the sections');
    $e = thrown_by(fn () => $one->synchronized($resource, fn () => $two->synchronized($resource, fn () => throw new LogicException('of the section'))));
    same('of the section', $e?->getMessage(), "$name: an exception");
    $is_free('after an exception');

    // ---- without the option it is a deadlock; a holder by another manager ----
    $held = $plain->acquire($resource, 60);
    fails(DeadlockException::class, '*', fn () => $one->acquire($resource, 30), "$name: held by who is not reentrant");
    same(null, $one->tryAcquire($resource), "$name: without a wait");
    $held->release();

    // ---- another process is another owner ----
    $held = $one->acquire($resource, 60);
    same([$name === 'memory', false, false], fork_child(fn () => [(bool) ($lease = $make(reentrant: true)->tryAcquire($resource)), $held->isHeld(), $held->release()])->result(),
        "$name: a child"); // a child has a memory of its own
    $again = $two->acquire($resource, 0);
    fork_child(fn () => [$held->release(), $again->release()])->result();
    same([true, true, true], [$held->isHeld(), $again->release(), $held->release()], "$name: after the child");

    // ---- several managers, in the order in which they end ----
    $mine = $make(reentrant: true);
    $held = $one->acquire($resource, 60);
    $again = $mine->acquire($resource, 0);
    unset($mine);
    same([true, true], [$held->release(), $again->isHeld()], "$name: its object is gone");
    $again->release();
    $is_free('after its object');

    // ---- lock() and release() ----
    if ($name !== 'RedLock') {
        same([true, true], [$one->lock($resource, 60), $one->lock($resource, 0)], "$name: lock() twice");
        same([true, true], [$two->lock($resource, 0), !$asks || $two->isLocking($resource)], "$name: lock() of another object");
        same([true, true], [$one->release($resource), !$asks || $one->isLocking($resource)], "$name: release() once");
        $waits();
        same([true, false], [$one->release($resource), $one->release($resource)], "$name: release() twice, and once more");
        $waits();
        same([true, false], [$two->release($resource), $asks && $two->isLocking($resource)], "$name: of the other object");
        $is_free('after release()');
        if ($asks) {
            same([true, true, true, true, false], [$one->lock($resource, 60), $one->lock($resource, 0), $one->lock($resource, 0), $one->unlockAll(),
                $one->release($resource)], "$name: unlockAll() ends all of them");
            $is_free('after unlockAll()');
        }
        $one->lock($resource, 60);
        $lease = $one->acquire($resource, 0);
        same([true, true], [$one->release($resource), $lease->isHeld()], "$name: lock(), and a lease beside it");
        fails(DlockException::class, '*', fn () => $one->release($resource), "$name: the rest is the lease's");
        $lease->release();
    } else {
        $array = $one->lock($resource);
        same([null, true], [$two->tryAcquire($resource), $two->unlock($array)], 'RedLock: lock() is no entry');
    }

    // ---- time: the longest that was asked for counts ----
    if (!$of_session) {
        $lease = $one->acquire($resource, 60, 60);
        $inner = $one->acquire($resource, 0, 300);
        within(200, $lease->remaining(), 300, "$name: a longer time");
        $shorter = $one->acquire($resource, 0, 5);
        within(200, $shorter->remaining(), 300, "$name: a shorter time");
        $shorter->refresh(5);
        within(200, $lease->remaining(), 300, "$name: refresh() does not shorten");
        $shorter->refresh(600);
        within(500, $lease->remaining(), 600, "$name: refresh() to a longer time");
        $renewed = $one->acquire($resource, 0); // of 30 s, renewed; the remaining time stays
        within(500, $lease->remaining(), 600, "$name: renewed, with the longer time");
        $waits(); // from now on it has no end
        same([true, true, true], [$lease->release(), $inner->release(), $renewed->release()], "$name: three released");
        $shorter->refresh(30);
        within(0, $shorter->remaining(), 30, "$name: alone, it may be shorter");
        same(true, $shorter->release(), "$name: the last");
    }
}

// ---- several locks at once ----
$one = $kinds['DistributedLock'](reentrant: true);
$names = [unique('a'), unique('b'), unique('c')];
$all = $one->acquire($names, 60);
$part = $one->acquire([$names[1], $names[0]], 0);
$single = $one->acquire($names[2], 0);
same([[$names[0], $names[1]], "$names[0], $names[1]", $names[2]], [$part->resources, $part->resource, $single->resource], 'a part of several');
same([$all->fencingToken, $all->token], [$single->fencingToken, $part->token], 'the same lease');
$all->release();
same([true, true], [$part->isHeld(), $one->isLocked($names[1])], 'all are held to the end');
$part->release();
$single->release();
same([false, false], [$one->isLocked($names[0]), $one->isLocked($names[2])], 'and then none');
$first = $one->acquire($names[0], 60);
fails(DeadlockException::class, '*', fn () => $one->acquire([$names[0], $names[1]], 30), 'one of them is held, and the other is not');
$first->release();

// ---- a loss ----
foreach (['flag', 'throw'] as $outer) {
    foreach (['flag', 'throw'] as $inner) {
        $locks = renewed_locks()['DistributedLock'];
        $one = $locks->manager(ttl: 2, onLoss: $outer, reentrant: true);
        $two = $locks->manager(ttl: 2, onLoss: $inner, reentrant: true);
        for ($attempt = 0, $taken = false; $attempt < 20 && !$taken; $attempt++) { // a machine that stands still may lose it before
            $name = unique("loss-$outer-$inner-$attempt");
            $lost = Dlock\stats()['losses'];
            $e = thrown_by(function () use ($one, $two, $name, $locks, &$first, &$second, &$taken) {
                $first = $one->acquire($name, 60);
                $second = $two->acquire($name, 60);
                take_away($locks, $name);
                $taken = $first->token === $second->token;
                wait_for(fn () => !$second->isHeld(), 60, 'the loss');
                busy(0.05);
            });
        }
        same($outer === 'flag' && $inner === 'flag' ? null : LeaseLostException::class, $e ? $e::class : null, "$outer, $inner: thrown");
        $e = thrown_by(fn () => busy(0.05));
        same(null, $e, "$outer, $inner: once");
        same([LeaseState::Lost, LeaseState::Lost], [$first->state(), $second->state()], "$outer, $inner: all of them");
        same($lost + 1, Dlock\stats()['losses'], "$outer, $inner: one loss");
        same(null, $one->tryAcquire($name), "$outer, $inner: a lost one is not entered");
        same([false, false], [$first->release(), $second->release()], "$outer, $inner: release()");
        clean_up($locks, $name);
    }
}

// ---- the end of a request releases, however often the lock was acquired ----
foreach (['exit;', 'throw new Exception("x");', ''] as $end) {
    $name = unique("end-$end");
    php_child('$locks = new DistributedLock($argv[1], ttl: 300, reentrant: true, releaseOnShutdown: false);
        $other = new DistributedLock($argv[1], ttl: 300, reentrant: true, releaseOnShutdown: true);
        $kept = [$locks->acquire($argv[2]), $other->acquire($argv[2])];
        $locks->lock($argv[2]) && $locks->lock($argv[2]) && $other->lock($argv[2]);
        ' . $end, [redis_server(), $name])->wait();
    same(true, $kinds['DistributedLock']()->acquire($name, 60)->release(), "the end of a request: $end");
}
$locks = $kinds['DistributedLock'](reentrant: true);
$name = unique('request');
Dlock\beginRequest();
[$a, $b] = [$locks->acquire($name, 60), $locks->acquire($name, 60)];
$locks->lock($name);
same(3, Dlock\endRequest(), 'endRequest()');
same([false, LeaseState::Released, LeaseState::Released, false], [$locks->isLocked($name), $a->state(), $b->state(), $locks->release($name)], 'after endRequest()');
unset($a, $b);

// ---- another fiber waits ----
Strands::install();
$order = [];
$name = unique('fiber');
Strands::spawn(function () use ($locks, $name, &$order) {
    $lease = $locks->acquire($name, 60);
    Strands::spawn(function () use ($locks, $name, &$order) {
        $order[] = $locks->tryAcquire($name);
        $lease = $locks->acquire($name, 60);
        $again = $locks->acquire($name, 60);
        $order[] = 'the other';
    });
    Strands::until(fn () => $locks->inspect($name)->waiting === 1, 60);
    $again = $locks->acquire($name, 60);
    unset($lease);
    Strands::pause(0.01);
    $order[] = 'the first';
});
Strands::run();
same([null, 'the first', 'the other'], $order, 'another fiber waits');
same(false, $locks->isLocked($name), 'nothing is left');
echo "done\n";
?>
--EXPECT--
done
