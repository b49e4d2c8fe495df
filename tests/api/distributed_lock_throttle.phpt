--TEST--
DistributedLock: locks that are left to their lease time, as by a throttle, use no memory after it; unlockAll() still reports them
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
is_readable('/proc/self/status') || die('skip no /proc');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/lease.inc';

// [server, keys before the first measurement, keys in all, lease time]
foreach (['Redis' => [redis_server(), 5_000, 30_000, 0.02], 'memory' => ['memory://', 20_000, 100_000, 0.005]] as $name => [$server, $first, $all, $seconds]) {
    $lock = new DistributedLock($server, unique('throttle'));
    $taken = 0;
    for ($i = 0; $i < $all; $i++) {
        $taken += (int) $lock->lock("user-$i", 0, $seconds); // on a slow machine the lease may end first
        $before = $i === $first ? resident() : $before ?? 0;
    }
    $more = resident() - $before;
    holds($more < 8192, "$name: memory that more keys take", "$more KiB");
    within(0.9 * $all, $taken, $all, "$name: locks");
    same([false, true], [$lock->unlockAll(), $lock->unlockAll()], "$name: unlockAll(), twice");
}

// A lock whose lease has not ended stays.
$lock = new DistributedLock(redis_server(), unique('throttle'));
$lock->lock('kept', 0);
for ($i = 0; $i < 1000; $i++) {
    $lock->lock("user-$i", 0, 0.02);
}
same(true, $lock->isLocking('kept'), 'what is not over is kept');
same(true, $lock->release('kept'), 'and released');
echo "done\n";
?>
--EXPECT--
done
