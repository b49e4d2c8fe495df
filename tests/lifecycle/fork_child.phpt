--TEST--
A child holds none of its parent's locks, and acquires locks of its own over a connection of its own
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

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$server = redis_private(['user app on >secret ~* &* +@all']);
$redis = $server->raw();
$redis->cmd('SELECT', 2);
$dsn = "redis://app:secret@{$server->address()}/2?connect_timeout=60&read_timeout=60";
$lock = new DistributedLock($dsn);
$red = new RedLock([$dsn]);
$lock->lock('lock', 0, 1000);
$lease = $lock->acquire('lease', 0, 1000);
$array = $red->lock('red', 1_000_000);
$red_lease = $red->acquire('red-lease', 0, 1000);
$parents = client_ids($redis);
same(1, count($parents), 'connections of the parent');

$child = fork_child(function (callable $say, callable $hear) use ($lock, $lease, $red, $red_lease, $parents, $redis) {
    ob_start();
    // The parent's locks.
    same(false, $lock->release('lock'), 'release() in the child');
    same(false, $lock->isLocking('lock'), 'isLocking() in the child');
    same(false, $lock->expire('lock', 5), 'expire() in the child');
    same(true, $lock->unlockAll() || true, 'unlockAll() in the child');
    foreach (['DistributedLock' => $lease, 'RedLock' => $red_lease] as $name => $held) {
        same(false, $held->isHeld(), "$name: isHeld() in the child");
        same(LeaseState::Lost, $held->state(), "$name: state() in the child");
        same(0.0, $held->remaining(), "$name: remaining() in the child");
        fails(LeaseLostException::class, '* is not held by this process but by its parent', $held->assertHeld(...), "$name: assertHeld() in the child");
        fails(LeaseLostException::class, '* is not held by this process but by its parent', fn () => $held->refresh(5), "$name: refresh() in the child");
        fails(LeaseLostException::class, '* is not held by this process but by its parent', $held->detach(...), "$name: detach() in the child");
        same(false, $held->release(), "$name: release() in the child");
    }
    // None of these calls has reached the server.
    same('nothing', trim(ob_get_clean()) ?: 'nothing', 'differences');

    ob_start();
    // For the child, its parent's locks are held by another process; it can acquire free ones.
    same(false, $lock->lock('lock', 0), 'lock() of what the parent holds');
    same(null, $red->tryAcquire('red'), 'tryAcquire() of what the parent holds');
    same(true, $lock->isLocked('lease'), 'isLocked() in the child');
    same(true, $lock->lock('own', 0, 1000), 'a lock of the child\'s own');
    same(true, $lock->isLocking('own'), 'isLocking() of the child\'s own');
    $own = $red->acquire('own-red', 0, 1000);
    same(true, $own->isHeld(), 'isHeld() of the child\'s own');
    $say(ob_get_clean());
    $hear();
    ob_start();
    same(true, $lock->release('own'), 'release() of the child\'s own');
    same(true, $lock->lock('left', 0, 1000), 'a lock that is left to the end of the child');
    return ob_get_clean();
});
same('', $child->hear(), 'in the child');
$now = client_ids($redis);
same(2, count($now), 'connections of parent and child');
same($parents, array_values(array_intersect($now, $parents)), 'the parent\'s connection');
same(2, $redis->cmd('EXISTS', 'Lock:own', 'own-red'), 'what the child holds');
same(false, $lock->lock('own', 0), 'lock() of what the child holds');
$child->say('go on');
same('', $child->result(), 'in the child, later');
same(0, $redis->cmd('EXISTS', 'Lock:own', 'own-red', 'Lock:left'), 'what the child held');

// The parent holds all of its locks, over the same connection.
same(4, $redis->cmd('EXISTS', 'Lock:lock', 'Lock:lease', 'red', 'red-lease'), 'what the parent holds');
same([true, true, true, true], [$lock->release('lock'), $lease->release(), $red->unlock($array), $red_lease->release()], 'what the parent releases');
same($parents, client_ids($redis), 'connections in the end');

// A child that was forked before anything was connected, and grandchildren.
$fresh = new DistributedLock($dsn);
same([[true, true]], fork_run(1, fn () => [$fresh->lock('a', 0), fork_run(1, fn () => [$fresh->isLocking('a'), $fresh->release('a'), $fresh->lock('b', 0), $fresh->release('b')]) === [[false, false, true, true]]]), 'grandchildren');

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
        same(true, $lock->lock("parent-$round", 0), "round $round: lock() of the parent");
        same(true, $lock->release("parent-$round"), "round $round: release() of the parent");
    }
    same(['right', 'right', 'right'], array_map(fn ($child) => $child->result(), $children), "round $round: the children");
}
same($parents, client_ids($redis), 'connections after many rounds');
echo "done\n";
?>
--EXPECT--
done
