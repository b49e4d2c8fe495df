--TEST--
Several locks at once: all or none, one token and one fencing token, what the lease can do, what is refused
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\LeaseState;

foreach ([
    'redis' => fn () => new DistributedLock(redis_server()),
    'three' => fn () => new RedLock(redis_servers(3), prefix: 'Lock:'),
    'memory' => fn () => new DistributedLock('memory://'),
] as $what => $make) {
    $locks = $make();
    $others = $make();
    [$a, $b, $c, $d] = array_map(fn (string $name) => unique("$what-$name"), ['a', 'b', 'c', 'd']);
    $locked = fn () => array_map($locks->isLocked(...), [$a, $b, $c, $d]);

    // ---- all, each once ----
    $before = $locks->acquire($b, 0, 60);
    $before->release();
    $lease = $locks->acquire([$c, $a, $b, $a], 0, 60);
    same([[$a, $b, $c], "$a, $b, $c"], [$lease->resources, $lease->resource], "$what: its names");
    same([true, true, true, false], $locked(), "$what: what is locked");
    holds($lease->fencingToken > $before->fencingToken, "$what: its fencing token");
    within(50, $lease->remaining(), 60, "$what: its time");
    same([$a], $locks->tryAcquire([$a])?->resources ?? [$a], "$what: a list of one");

    // ---- or none ----
    same([null, null], [$others->tryAcquire($b), $others->tryAcquire([$d, $b])], "$what: a part of it");
    fails(AcquireTimeoutException::class, "The locks \"$b, $d\" were not all free within 0.1 s", fn () => $others->acquire([$d, $b], 0.1));
    same([true, true, true, false], $locked(), "$what: nothing is kept of what was not acquired");
    $lease->refresh(100);
    within(90, $lease->remaining(), 100, "$what: refresh()");

    // ---- attached by another process ----
    $copy = $others->attach($handle = $lease->detach());
    same([[$a, $b, $c], LeaseState::Released], [$copy->resources, $lease->state()], "$what: attach()");
    holds($copy->fencingToken > $lease->fencingToken && $copy->token !== $lease->token, "$what: its tokens");
    fails(Dlock\LeaseLostException::class, '*is no longer valid: it was already attached*', fn () => $locks->attach($handle));
    same(true, $copy->release(), "$what: release()");
    same([false, false, false, false], $locked(), "$what: all is free");
    same(false, $copy->release(), "$what: release() again");

    // ---- this process holds one of them without end ----
    $endless = $locks->acquire([$a, $b]);
    foreach ([$b, [$c, $b]] as $wanted) {
        fails(DeadlockException::class, "This process holds the lock \"$b\" already, and would wait for itself", fn () => $others->acquire($wanted, 60));
    }
    same(false, $locks->isLocked($c), "$what: nothing was acquired");
    unset($endless);
    same([[$a, $d], [false, false, false, false]], [$locks->synchronized([$d, $a], fn ($lease) => $lease->resources), $locked()], "$what: synchronized()");

    // ---- a part is broken: all is lost, and released once the holder can know ----
    $lease = $locks->acquire([$a, $b], 0, 60);
    $holder = $others->inspect($b)->holders[0];
    same($holder->id, $others->inspect($a)->holders[0]->id, "$what: who holds them");
    same($holder->id, substr($lease->token, 0, 24), "$what: that is the lease");
    if ($what !== 'memory') {
        foreach ($what === 'three' ? [0, 2] : [0] as $i) {
            redis_raw($i)->cmd('DEL', "Lock:$b");
        }
        same([true, true], [$lease->isHeld(), $locks->isLocked($a)], "$what: a part is gone");
        fails(Dlock\LeaseLostException::class, $what === 'three' ? '2 of 3 servers do not have the lock for this lease' : "The lock \"$a, $b\" was lost*", fn () => $lease->refresh());
        wait_for(fn () => !$others->isLocked($a), 60, 'the rest');
    }
    $lease->release();
    same([false, false], [$locks->isLocked($a), $lease->isHeld()], "$what: it is over");
}

// ---- RedLock repairs a minority that has lost a part ----
$locks = new RedLock(redis_servers(3), prefix: 'Lock:', ttl: 30, renew: true);
[$a, $b] = [unique('a'), unique('b')];
$values = fn (int $i) => array_map(fn (string $name) => redis_raw($i)->cmd('GET', "Lock:$name"), [$a, $b]);
$lease = $locks->acquire([$a, $b], 0);
redis_raw(1)->cmd('DEL', "Lock:$b");
wait_for(fn () => $values(1) === [$lease->token, $lease->token], 60, 'the second server to have both again');
same([true, true], [$lease->isHeld(), $lease->release()], 'a minority had lost a part');
wait_for(fn () => array_map($values, [0, 1, 2]) === array_fill(0, 3, [null, null]), 60, 'both to be free everywhere');

// ---- 64 names of 1,024 bytes ----
$long = array_map(fn (int $i) => str_pad(unique("$i"), 1024, 'x'), range(1, 64));
$lease = new DistributedLock(redis_server());
$lease = $lease->acquire([...$long, ...$long], 0, 60);
same([64, true], [count($lease->resources), (new DistributedLock(redis_server()))->attach($lease->detach())->release()], 'the most');

// ---- what is refused ----
$locks = new DistributedLock(redis_server());
$must = fn (string $what) => "DistributedLock::acquire(): Argument #1 (\$resource) must $what";
fails(ValueError::class, $must('have between 1 and 64 names'), fn () => $locks->acquire([]));
fails(ValueError::class, $must('have between 1 and 64 names'), fn () => $locks->acquire([...$long, 'one more']));
fails(ValueError::class, $must('have names between 1 and 1024 bytes long'), fn () => $locks->acquire(['a', '']));
fails(TypeError::class, $must('be of type string or a list of strings, but an element is of type int'), fn () => $locks->acquire(['a', 1]));
fails(ValueError::class, '*which dlock keeps beside the locks*', fn () => (new DistributedLock(redis_server(), prefix: ''))->acquire(['a', 'dlock:fence']));
foreach ([
    'memcached' => fn () => new DistributedLock('memcached://127.0.0.1'),
    'legacy' => fn () => new DistributedLock(redis_server(), legacy: true),
    'read/write' => fn () => (new Dlock\ReadWriteLock(redis_server()))->writeLock(),
] as $what => $make) {
    fails(ValueError::class, '*: Argument #1 ($resource) must be one name*; for several at once use *', fn () => $make()->acquire(['a', 'b']), $what);
}
echo "done\n";
?>
--EXPECT--
done
