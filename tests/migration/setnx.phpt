--TEST--
DistributedLock has the calls of the SETNX lock class: lock, release, unlock, unlockAll, expire, isLocking
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';

$redis = redis_raw();
$lock = new DistributedLock(redis_server());
$key = unique('order');

/** Another process, which executes its input on the lock, and answers line by line. */
$other = php_child('
    $lock = new DistributedLock($argv[1]);
    while (($line = fgets(STDIN)) !== false) {
        [$call, $arguments] = json_decode($line, true);
        if ($call === "lock" && $arguments[1] > 0) {
            echo "waiting\n";
        }
        echo json_encode($lock->$call(...$arguments)), "\n";
    }
', [redis_server()]);
$ask = function (string $call, mixed ...$arguments) use ($other) {
    $other->writeLine(json_encode([$call, $arguments]));
    return $other->readLine();
};

echo "-- lock and release\n";
var_dump($lock->lock($key, 0));
var_dump($redis->cmd('EXISTS', "Lock:$key"), $redis->cmd('PTTL', "Lock:$key") > 0);
var_dump($lock->isLocking($key));
echo 'other: lock ', $ask('lock', $key, 0), ', isLocking ', $ask('isLocking', $key), ', release ', $ask('release', $key), "\n";
var_dump($lock->isLocking($key));
var_dump($lock->release($key));
var_dump($redis->cmd('EXISTS', "Lock:$key"));
var_dump($lock->release($key), $lock->isLocking($key));

echo "-- a waiter gets what is released\n";
var_dump($lock->lock($key));
echo $ask('lock', $key, 30), "\n";
var_dump($lock->unlock($key));
echo 'other: lock ', $other->readLine(), ', isLocking ', $ask('isLocking', $key), "\n";
$start = now();
var_dump($lock->lock($key, 0.3), now() - $start >= 0.29);
echo 'other: release ', $ask('release', $key), "\n";

echo "-- expire\n";
var_dump($lock->lock($key, 0, 30), $redis->cmd('PTTL', "Lock:$key") > 20000);
var_dump($lock->expire($key, 5), $redis->cmd('PTTL', "Lock:$key") <= 5000);
var_dump($lock->expire($key, 2));
wait_for(fn () => $redis->cmd('EXISTS', "Lock:$key") === 0, 60, 'the expiry');
echo 'other: lock ', $ask('lock', $key, 0), "\n";
var_dump($lock->isLocking($key), $lock->release($key), $lock->expire($key, 5));
echo 'other: isLocking ', $ask('isLocking', $key), ', release ', $ask('release', $key), "\n";

echo "-- unlockAll\n";
$keys = [unique('a'), unique('b'), unique('c')];
foreach ($keys as $k) {
    $lock->lock($k, 0) || print "not locked\n";
}
var_dump($redis->cmd('EXISTS', ...array_map(fn ($k) => "Lock:$k", $keys)));
var_dump($lock->unlockAll());
var_dump($redis->cmd('EXISTS', ...array_map(fn ($k) => "Lock:$k", $keys)));

echo "-- the end of a process releases\n";
$ask('lock', $key, 0);
var_dump($redis->cmd('EXISTS', "Lock:$key"));
var_dump($other->wait(), $redis->cmd('EXISTS', "Lock:$key"));
?>
--EXPECT--
-- lock and release
bool(true)
int(1)
bool(true)
bool(true)
other: lock false, isLocking false, release false
bool(true)
bool(true)
int(0)
bool(false)
bool(false)
-- a waiter gets what is released
bool(true)
waiting
bool(true)
other: lock true, isLocking true
bool(false)
bool(true)
other: release true
-- expire
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
other: lock true
bool(false)
bool(false)
bool(false)
other: isLocking true, release true
-- unlockAll
int(3)
bool(true)
int(0)
-- the end of a process releases
int(1)
int(0)
int(0)
