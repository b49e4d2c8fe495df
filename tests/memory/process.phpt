--TEST--
memory://: each process has its own tables: a forked child begins with empty ones, and its end takes them along
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$lock = new DistributedLock('memory://', ttl: 6.0);
$before = belongings();
$lock->lock('lock', 0, 1000);
$lease = $lock->acquire('lease', 0, 1000);
$renewed = $lock->acquire('renewed');
$handle = $lock->acquire('handle', 0, 1000)->detach();

$child = fork_child(function (callable $say, callable $hear) use ($lock, $lease, $renewed, $handle) {
    ob_start();
    // The child does not hold its parent's locks.
    same([false, false, false], [$lock->release('lock'), $lock->isLocking('lock'), $lock->expire('lock', 5)], 'the parent\'s lock() in the child');
    foreach (['a lease' => $lease, 'a lease that is renewed' => $renewed] as $what => $held) {
        same([false, LeaseState::Lost, 0.0, false], [$held->isHeld(), $held->state(), $held->remaining(), $held->release()], "$what in the child");
        fails(LeaseLostException::class, '* is not held by this process but by its parent', $held->assertHeld(...), "$what in the child");
    }
    fails(LeaseLostException::class, '*"handle"*', fn () => $lock->attach($handle), 'the parent\'s handle in the child');
    // Its table is empty.
    same([false, false, true], [$lock->isLocked('lease'), $lock->isLocked('renewed'), $lock->lock('lock', 0)], 'the child\'s table');
    $own = $lock->acquire('lease', 0, 1000);
    $its = $lock->acquire('renewed');
    nap(8);
    same([true, true, true, true], [$own->isHeld(), $its->isHeld(), $lock->isLocking('lock'), $lock->release('lock')], 'the child\'s own');
    return ob_get_clean();
});
same('', $child->result(), 'in the child');
same([true, true, true, true], [$lease->isHeld(), $renewed->isHeld(), $lock->isLocking('lock'), $lock->isLocked('handle')], 'the parent\'s');
same(true, $lock->attach($handle)->release(), 'attach() in the parent');
same([true, true, true], [$lock->release('lock'), $lease->release(), $renewed->release()], 'release() in the parent');

// Children, grandchildren, and many of them, while the parent's leases are renewed.
$renewed = $lock->acquire('renewed');
same([[true, [true]], [true, [true]], [true, [true]]], fork_run(3, fn () => [$lock->lock('renewed', 0), fork_run(1, fn () => $lock->lock('renewed', 0))]), 'grandchildren');
for ($i = 0; $i < 30; $i++) {
    fork_run(1, fn () => null, $i % 2 ? 'exit' : 'kill');
}
same([true, true], [$renewed->isHeld(), $renewed->release()], 'after many children');

// There are no sockets, and at most one thread, which renews.
$after = belongings();
holds($after['descriptors'] <= $before['descriptors'] + 3 && $after['threads'] <= $before['threads'] + 1, 'descriptors and threads', $before, $after);
$stats = Dlock\stats();
same([0, 0, 0], [$stats['connections'], $stats['reconnections'], $stats['sessions']], 'connections');

// A process that holds locks ends well by a fatal error, an exception and a plain end.
foreach (['', 'exit(3);', 'throw new Exception("the end");', 'eval("abstract class A { abstract function f(); } class B extends A {}");'] as $end) {
    $php = php_child('$lock = new DistributedLock("memory://"); $lock->lock("r", 0); $lease = $lock->acquire("s"); $h = $lock->acquire("t", 0, 100)->detach(); echo "held\n"; ' . $end);
    same('held', $php->readLine(), "a process that ends by \"$end\"");
    holds(in_array($php->wait(), [0, 3, 255], true), "the end by \"$end\"", $php->wait());
}
echo "done\n";
?>
--EXPECT--
done
