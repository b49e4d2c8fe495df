--TEST--
While no lock is granted, the caller is told why; a fork, a request's end, stats() and phpinfo() are as on one server
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
require __DIR__ . '/../inc/replicated.inc';

$set = new SentinelSet(downAfter: 60_000);
$lock = new DistributedLock($set->dsn(['guard' => 10]), ttl: 10.0);
$timed_out = function () use ($lock): string {
    try {
        $lock->acquire('sale', timeout: 0.2)->release();
    } catch (Dlock\AcquireTimeoutException | Dlock\ConnectionException $e) {
        return $e->getMessage();
    }
    return 'granted';
};
$form = '/^The lock "sale" was not granted within 0\.2 s: Redis at 127\.0\.0\.1:\d+: was promoted, restarted or set up, or a replica attached, and may not know all leases yet: no lock is granted for another [\d.]+ s$/';
holds(preg_match($form, $message = $timed_out()) === 1, 'a new set', $message);
same([null, null], [$lock->tryAcquire('sale'), $lock->tryAcquire(['sale', 'cart'])], 'nor is one tried for, or several');
same(3, Dlock\stats()['guard_waits'], 'all are counted');

$lease = $lock->acquire('sale', timeout: 60.0);
same(4, Dlock\stats()['guard_waits'], 'and one that waited for the end of the guard');
$lock->acquire('another')->release();
same(4, Dlock\stats()['guard_waits'], 'no later one');
same([true, false], [$lock->isLocked('sale'), $lock->isLocked('another')], 'isLocked()');
$stats = Dlock\stats();
holds($stats['acquisitions'] >= 1 && $stats['connections'] >= 1, 'stats()', $stats);
ob_start();
phpinfo(INFO_MODULES);
holds(str_contains((string) ob_get_clean(), 'acquisitions'), 'phpinfo()', '');

$child = fork_child(function () use ($lease, $lock) {
    return [$lease->isHeld(), $lock->tryAcquire('sale') === null, $lock->acquire('child', timeout: 60.0)->isHeld()];
});
same([false, true, true], $child->result(), 'a child has its own connections and locks, and none of its parent');
holds($lease->isHeld(), 'the parent keeps it', $lease->state());

same([true, false], [$lease->release(), $lock->isLocked('sale')], 'release()');
$set->master()->kill();
$set->failOver();
wait_for(fn () => $timed_out() === 'granted', 60, 'a new master to grant locks');
echo "done\n";
?>
--EXPECT--
done
