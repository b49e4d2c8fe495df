--TEST--
refresh() starts a new lease time, the same as before, longer or shorter
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$managers = [
    'DistributedLock' => [new DistributedLock(redis_server()), 'Lock:'],
    'RedLock' => [new RedLock(redis_servers(1)), ''],
    'RedLock over three' => [new RedLock(redis_servers(3)), ''],
];
foreach ($managers as $name => [$manager, $prefix]) {
    $resource = unique("refresh $name");
    $key = $prefix . $resource;
    $lease = $manager->acquire($resource, ttl: 100);
    $token = $lease->token;

    $redis->cmd('PEXPIRE', $key, 20_000);
    same(null, $lease->refresh(), "$name: refresh()");
    wait_for(fn () => $redis->cmd('PTTL', $key) > 50_000, 60, 'the lease time as before');
    within(50, $lease->remaining(), 99, "$name: remaining() after refresh()");

    $lease->refresh(1000);
    wait_for(fn () => $redis->cmd('PTTL', $key) > 500_000, 60, 'the longer lease');
    within(500, $lease->remaining(), 990, "$name: remaining() of a longer lease");

    $lease->refresh(50.5);
    wait_for(fn () => $redis->cmd('PTTL', $key) <= 50_500, 60, 'the shorter lease');
    within(20, $lease->remaining(), 50, "$name: remaining() of a shorter lease");

    // From then on null means the lease time that was set last.
    $lease->refresh(200);
    $lease->refresh(ttl: null);
    within(150, $lease->remaining(), 198, "$name: remaining() after refresh(null)");

    same($token, $lease->token, "$name: the token");
    same(true, $lease->isHeld(), "$name: isHeld()");
    same(true, $lease->release(), "$name: release()");

    // The lock is lost without this process' knowledge, and refresh() finds out.
    $lease = $manager->acquire($resource, ttl: 100);
    wait_for(fn () => $redis->cmd('EXISTS', $key) === 1, 60, 'the key');
    foreach ($name === 'RedLock over three' ? [0, 1, 2] : [0] as $server) {
        wait_for(fn () => redis_raw($server)->cmd('SET', $key, 'theirs', 'XX', 'PX', 100_000) === 'OK', 60, 'the key');
    }
    same(true, $lease->isHeld(), "$name: isHeld() before the refresh");
    fails(Dlock\LeaseLostException::class, '*', fn () => $lease->refresh(1000), $name);
    same(false, $lease->isHeld(), "$name: isHeld() after a refresh that failed");
    same(Dlock\LeaseState::Lost, $lease->state(), "$name: state() after a refresh that failed");
    same(0.0, $lease->remaining(), "$name: remaining() after a refresh that failed");
    within(50_000, $redis->cmd('PTTL', $key), 100_000, "$name: the lease of the other");
    $redis->cmd('DEL', $key);
}
echo "done\n";
?>
--EXPECT--
done
