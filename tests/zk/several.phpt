--TEST--
ZkLock: several locks at once: all or none, in one order; if a part is lost, all is lost; a dead process leaves all queues
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/strands.inc';

use Dlock\DeadlockException;
use Dlock\DlockException;
use Dlock\LeaseLostException;
use Dlock\LeaseState;

const SHORT = 3.5, LONG = 30.0; // sessions of processes that are killed, and of the others

$zk = zk_raw();
$locks = new ZkLock(zk_hosts(), sessionTimeout: LONG);
$others = new ZkLock(zk_hosts(), sessionTimeout: LONG);
[$a, $b, $c, $d] = array_map(unique(...), ['a', 'b', 'c', 'd']);
$nodes = fn (string ...$names) => array_map(fn (string $name) => count(zk_nodes($zk, $name)), $names);
$created = fn (string $name) => $zk->exists("/locks/$name/" . zk_nodes($zk, $name)[0])['czxid'];

// ---- all, each once, by one transaction ----
$before = $locks->acquire($b, 0);
$before->release();
$lease = $locks->acquire([$c, $a, $b, $a], 0);
same([[$a, $b, $c], "$a, $b, $c", LeaseState::Held], [$lease->resources, $lease->resource, $lease->state()], 'its names');
same([1, 1, 1, 0], $nodes($a, $b, $c, $d), 'its nodes');
same(array_fill(0, 3, $lease->fencingToken), array_map($created, [$a, $b, $c]), 'its fencing token');
holds($lease->fencingToken > $before->fencingToken, 'is a later one');
same([true, null], [$lease->remaining() > 0, $lease->refresh()], 'its time');

// ---- or none ----
same([null, null], [$others->tryAcquire($b), $others->tryAcquire([$d, $b])], 'a part of it');
same("The locks \"$b, $d\" were not all free within 0.1 s",
    fork_child(fn () => thrown_by(fn () => $others->acquire([$d, $b], 0.1))?->getMessage())->result(), 'another process');
foreach ([$a, $b, $c] as $name) {
    wait_for_nodes($zk, 1, $name);
}
wait_for_nodes($zk, 0, $d);
fails(DlockException::class, '*', $lease->detach(...));
same(true, $lease->release(), 'release()');
same([[0, 0, 0, 0], false], [$nodes($a, $b, $c, $d), $lease->release()], 'all is free');

// ---- this process holds one of them ----
$endless = $locks->acquire([$a, $b]);
foreach ([$b, [$c, $b]] as $wanted) {
    fails(DeadlockException::class, "This process holds the lock \"$b\" already, and would wait for itself", fn () => $others->acquire($wanted, 5));
}
unset($endless);
same([[$a, $d], [0, 0]], [$locks->synchronized([$d, $a], fn ($lease) => $lease->resources), $nodes($a, $d)], 'synchronized()');
$reentrant = new ZkLock(zk_hosts(), sessionTimeout: LONG, reentrant: true);
$outer = $reentrant->acquire([$a, $b], 0);
$inner = $reentrant->acquire($b, 0);
same([$outer->fencingToken, [true, true, true], [1, 1]], [$inner->fencingToken, [$outer->release(), $inner->isHeld(), $reentrant->acquire([$b, $a], 0)->release()], $nodes($a, $b)], 'a part once more');
same([true, [0, 0]], [$inner->release(), $nodes($a, $b)], 'the last one');

/** Waits in a process of its own, reports its fencing token, and releases when it hears something. */
$taker = fn (string|array $wanted, float $session = LONG) => fork_child(function (callable $say, callable $hear) use ($wanted, $session) {
    $lease = (new ZkLock(zk_hosts(), sessionTimeout: $session))->acquire($wanted, 60);
    $say($lease->fencingToken);
    $hear();
    return $lease->release();
});

// ---- in one order with waiters for one of them; it watches its predecessor in each queue ----
$lease = $locks->acquire($a, 0);
$set = $taker([$a, $b, $c]);
wait_for_nodes($zk, 1, $c);
$single = $taker($b);
wait_for_nodes($zk, 2, $b);
$path = "/locks/$b/" . zk_nodes($zk, $b)[0];
wait_for(fn () => isset(zk_watches(zk_hosts())[$path]), 60, 'the watch of the single one');
$path = "/locks/$a/" . zk_nodes($zk, $a)[0];
wait_for(fn () => isset(zk_watches(zk_hosts())[$path]), 60, 'the watch of all three');
same(false, $set->hasSaid() || $single->hasSaid(), 'neither has what it waits for');
same(true, $lease->release(), 'release()');
$token = $set->hear();
holds($token > $lease->fencingToken && !$single->hasSaid(), 'first the three, though the other lock was free');
$set->say('release');
same([true, true], [$set->result(), $single->hear() > $token], 'then the single one');
$single->say('release');
same(true, $single->result(), 'release() of that');

// ---- a waiter is killed in front of three queues, a holder with three locks ----
$lease = $locks->acquire([$a, $b, $c], 0);
$killed = $taker([$a, $b, $c], SHORT);
wait_for_nodes($zk, 2, $c);
$behind = $taker([$b, $d]);
wait_for_nodes($zk, 3, $b);
$killed->kill();
foreach ([$a, $c] as $name) {
    wait_for_nodes($zk, 1, $name);
}
$lease->release();
$token = $behind->hear();
holds($token > $lease->fencingToken, 'who was behind it');
$behind->say('release');
same([true, [0, 0, 0, 0]], [$behind->result(), $nodes($a, $b, $c, $d)], 'nothing is left');
$killed = $taker([$a, $b, $c], SHORT);
$token = $killed->hear();
$behind = $taker([$c, $b]);
wait_for(fn () => count(zk_nodes($zk, $c)) === 2 || $behind->hasSaid(), 60, 'who is behind a holder');
$killed->kill();
holds($behind->hear() > $token, 'who was behind a holder');
$behind->say('release');
same(true, $behind->result(), 'release()');

// ---- an operator deletes a node: all is lost, and the rest is released, although the holder does not look ----
$kept = $locks->acquire($d, 0);
$lease = (new ZkLock(zk_hosts(), sessionTimeout: 20))->acquire([$a, $b, $c], 0);
$other = $taker([$a, $c]);
wait_for_nodes($zk, 2, $c);
$zk->delete("/locks/$b/" . zk_nodes($zk, $b)[0]);
holds($other->hear() > $lease->fencingToken, 'another process has the rest');
same([LeaseState::Lost, 0.0, false], [$lease->state(), $lease->remaining(), $lease->isHeld()], 'state(), remaining()');
fails(LeaseLostException::class, "The lock \"$a, $b, $c\" was lost*", fn () => $lease->assertHeld());
same([false, true], [$lease->release(), $kept->release()], 'release(), and of another lock');
$other->say('release');
same([true, [0, 0, 0]], [$other->result(), $nodes($a, $b, $c)], "release() of the other's");
$throwing = new ZkLock(zk_hosts(), sessionTimeout: 20, onLoss: 'throw');
same("The lock \"$a, $b\" was lost while it was held", thrown_by(function () use ($throwing, $a, $b, $zk) {
    $lease = $throwing->acquire([$a, $b], 0);
    $zk->delete("/locks/$b/" . zk_nodes($zk, $b)[0]);
    busy(60);
})?->getMessage(), 'onLoss: "throw"');
wait_for_nodes($zk, 0, $a);
// The release itself finds out.
$lease = $locks->acquire([$a, $b, $c], 0);
$zk->delete("/locks/$b/" . zk_nodes($zk, $b)[0]);
same(false, $lease->release(), 'release() of a part');
wait_for_nodes($zk, 0, $a);
wait_for_nodes($zk, 0, $c);
// A waiter's node is deleted: it queues again.
$lease = $locks->acquire([$a, $b], 0);
$other = $taker([$a, $b]);
wait_for_nodes($zk, 2, $b);
$was = zk_nodes($zk, $b)[1];
$zk->delete("/locks/$b/$was");
$lease->release();
$other->hear();
holds(zk_nodes($zk, $b) !== [$was] && count(zk_nodes($zk, $a)) === 1, 'a waiter queues again');
$other->say('release');
$other->result();

// ---- waits that suspend a fiber ----
Strands::install();
$got = [];
$lease = $locks->acquire($b, 0);
foreach ([[$a, $b], [$b, $c], [$a, $b, $c]] as $wanted) {
    Strands::spawn(function () use ($wanted, $locks, &$got) {
        $mine = $locks->acquire($wanted, 60);
        $got[] = $mine->fencingToken;
        Strands::pause(0.01);
        $mine->release();
    });
}
Strands::spawn(function () use ($lease, $nodes, $b) {
    Strands::until(fn () => $nodes($b) === [4]);
    $lease->release();
});
Strands::run();
Dlock\setWaiter(null);
$in_order = $got;
sort($in_order);
same([$in_order, 3, true], [$got, count($got), $got[0] > $lease->fencingToken && Strands::$suspensions > 0], 'in fibers');

// ---- a child of fork() holds none of it; the end of a request releases all ----
$lease = $locks->acquire([$a, $b], 0);
same([false, false, null], fork_child(fn () => [$lease->isHeld(), $lease->release(), $locks->tryAcquire([$b, $c])])->result(), 'in a child');
same([true, [1, 1, 0], true], [$lease->isHeld(), $nodes($a, $b, $c), $lease->release()], 'in its parent');
foreach (['' => 'the end', 'exit(3);' => 'exit', 'throw new Exception("x");' => 'an exception'] as $code => $end) {
    $child = php_child("\$lease = (new ZkLock(\$argv[1], sessionTimeout: 50))->acquire([\$argv[2], \$argv[3]], 0); echo \"held\\n\"; fgets(STDIN); $code",
        [zk_hosts(), $a, $b], '-d dlock.shutdown_timeout=60');
    same(['held', [1, 1]], [$child->readLine(), $nodes($a, $b)], "$end: held");
    $child->writeLine('go');
    $child->wait();
    wait_for_nodes($zk, 0, $a);
    wait_for_nodes($zk, 0, $b);
}

// ---- 64 names of 1,024 bytes, most of them encoded ----
$long = array_map(fn (int $i) => str_pad(unique("$i"), 1024, "\xff"), range(1, 64));
$lease = $locks->acquire($long, 0);
same([64, true], [count($lease->resources), $lease->release()], 'the most');
echo "done\n";
?>
--EXPECT--
done
