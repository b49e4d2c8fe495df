--TEST--
RedLock: lock() waits about retryDelay between its attempts, as the published class does, so three attempts outlast a short holder
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// That class pauses for between half of retryDelay and all of it. So its second attempt comes after 200 ms here.
$red = new RedLock(redis_servers(3), retryDelay: 400, retryCount: 3);
$red->isLocked(unique('connected'));
for ($try = 0; $try < 3; $try++) {
    $resource = unique("short-$try");
    for ($i = 0; $i < 3; $i++) {
        redis_raw($i)->cmd('SET', $resource, 'theirs', 'PX', 100);
    }
    $lock = $red->lock($resource);
    same($resource, $lock['resource'] ?? null, 'lock() of what is held for 100 ms more');
}

// Between all attempts except the first two: the second joins the queue, so that a release ends the pauses.
for ($i = 0; $i < 3; $i++) {
    redis_raw($i)->cmd('SET', $taken = unique('taken'), 'theirs', 'PX', 60000);
}
foreach ([1 => 0, 2 => 0, 3 => 1, 4 => 2] as $count => $pauses) {
    $red = new RedLock(redis_servers(3), retryDelay: 400, retryCount: $count);
    within(0.2 * $pauses, seconds(fn () => same(false, $red->lock($taken), 'lock() of what is held')), SOON, "seconds of $count attempts");
}
echo "done\n";
?>
--EXPECT--
done
