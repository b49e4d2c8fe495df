--TEST--
After the lease time the lock is lost, even if its key is still on the server: release() deletes the key and returns false
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// The key outlives the lease by what clocks may disagree about; here it outlives it by much more.
$redis = redis_raw();
$prolong = fn (string $key) => same(1, $redis->cmd('PEXPIRE', $key, 100_000), 'the key to be there');

foreach ([[new DistributedLock(redis_server()), 'Lock:'], [new RedLock(redis_servers(1)), '']] as [$manager, $prefix]) {
    $name = $manager::class;
    $resource = unique($name);
    for ($try = 0; $try < 20; $try++) { // a slow machine may miss the second
        $lease = $manager->acquire($resource, 30, 1.0);
        if ($redis->cmd('PEXPIRE', $prefix . $resource, 100_000) === 1) {
            break;
        }
    }
    wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
    same(Dlock\LeaseState::Lost, $lease->state(), "$name: state() when the time is over");
    fails(Dlock\LeaseLostException::class, '*', fn () => $lease->refresh(10), "$name: refresh() when the time is over");
    same(false, $lease->release(), "$name: release() when the time is over");
    same(Dlock\LeaseState::Lost, $lease->state(), "$name: state() after release()");
    same(0, $redis->cmd('EXISTS', $prefix . $resource), "$name: the key after release()");
}

$lock = new DistributedLock(redis_server());
$key = unique('lock');
$lock->lock($key, 0, 1);
$prolong("Lock:$key");
wait_for(fn () => remaining($lock) === 0.0, 60, 'the end of the lease');
same(false, $lock->expire($key, 10), 'expire() when the time is over');
same(false, $lock->release($key), 'release() when the time is over');
same(0, $redis->cmd('EXISTS', "Lock:$key"), 'the key after release()');

/** Seconds left of the one lock that the object holds, from var_dump(). */
function remaining(DistributedLock $lock): float
{
    ob_start();
    var_dump($lock);
    preg_match('/\["held"\].*float\(([^)]+)\)/s', ob_get_clean(), $found);
    return (float) $found[1];
}
echo "done\n";
?>
--EXPECT--
done
