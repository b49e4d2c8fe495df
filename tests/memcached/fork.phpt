--TEST--
memcached: a child holds none of its parent's locks, and acquires locks of its own over a connection of its own
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$server = new PrivateMemcached();
$raw = $server->raw();
$lock = new DistributedLock($server->dsn());
$lock->lock('lock', 0, 1000);
$lease = $lock->acquire('lease', 0, 1000);
$renewed = (new DistributedLock($server->dsn(), ttl: 15))->acquire('renewed', 0);

ini_set('dlock.shutdown_timeout', '60');
$child = fork_child(function (callable $say, callable $hear) use ($lock, $lease, $renewed) {
    ob_start();
    same([false, false, false], [$lock->release('lock'), $lock->isLocking('lock'), $lock->expire('lock', 5)], 'the parent\'s lock() in the child');
    foreach (['a lease' => $lease, 'a lease that is renewed' => $renewed] as $what => $held) {
        same([false, LeaseState::Lost, 0.0, false], [$held->isHeld(), $held->state(), $held->remaining(), $held->release()], "$what in the child");
        foreach ([$held->assertHeld(...), fn () => $held->refresh(5), $held->detach(...)] as $do) {
            fails(LeaseLostException::class, '* is not held by this process but by its parent', $do, "$what in the child");
        }
    }
    same([false, null, true], [$lock->lock('lock', 0), $lock->tryAcquire('lease'), $lock->isLocked('lease')], 'what the parent holds');
    same([true, true], [$lock->lock('own', 0, 1000), $lock->isLocking('own')], 'a lock of the child\'s own');
    $own = (new DistributedLock($GLOBALS['server']->dsn(), ttl: 15))->acquire('own-renewed', 0);
    $say(ob_get_clean());
    $hear();
    ob_start();
    same([true, true, true], [$own->isHeld(), $own->release(), $lock->release('own')], 'the child\'s own');
    same(true, $lock->lock('left', 0, 1000), 'a lock that is left to the end of the child');
    return ob_get_clean();
});
same('', $child->hear(), 'in the child');
same([false, true], [$lock->lock('own', 0), $raw->get('Lock:own') !== null], 'what the child holds');
array_map($server->waitForRenewal(...), ['Lock:renewed', 'Lock:own-renewed']);
$child->say('go on');
same('', $child->result(), 'in the child, later');
same([null, null, null], [$raw->get('Lock:own'), $raw->get('Lock:own-renewed'), $raw->get('Lock:left')], 'what the child held');
same([true, true, true], [$lock->release('lock'), $lease->release(), $renewed->release()], 'what the parent releases');

// In many rounds parent and children work at the same time: each reads the answers to its own requests.
for ($round = 0; $round < 10; $round++) {
    $children = [];
    for ($i = 0; $i < 3; $i++) {
        $children[] = fork_child(function () use ($lock, $round, $i) {
            for ($n = 0; $n < 20; $n++) {
                $lease = $lock->acquire("round-$round-$i", 0);
                if ($lease->resource !== "round-$round-$i" || !$lock->isLocked("round-$round-$i") || !$lease->release()) {
                    return 'wrong';
                }
            }
            return 'right';
        });
    }
    for ($n = 0; $n < 50; $n++) {
        same([true, true], [$lock->lock("parent-$round", 0), $lock->release("parent-$round")], "round $round: the parent");
    }
    same(['right', 'right', 'right'], array_map(fn ($child) => $child->result(), $children), "round $round: the children");
}

// A fork during a wait, and a child that ends at once, by exit() and by a signal.
$lease = $lock->acquire('end', 0, 1000);
foreach (['exit', 'kill'] as $end) {
    fork_run(2, fn () => null, $end);
    same([true, $lease->token], [$lease->isHeld(), $raw->get('Lock:end')], "children that end by $end");
}
$lease->refresh();
same(true, $lease->release(), 'after children have ended');
same(['dlock:fence'], array_values(array_diff($raw->keys(), ['dlock:clock'])), 'keys in the end');
echo "done\n";
?>
--EXPECT--
done
