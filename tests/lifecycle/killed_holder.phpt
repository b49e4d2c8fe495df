--TEST--
A killed holder keeps the lock for its lease time, and no longer; then a waiter acquires it
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

$managers = [
    'DistributedLock' => [fn () => new DistributedLock(redis_server()), 'Lock:'],
    'RedLock' => [fn () => new RedLock(redis_servers(3)), ''],
];
foreach ($managers as $name => [$make, $prefix]) {
    $resource = unique($name);
    $ttl = 100.0;
    $child = fork_child(function (callable $say, callable $hear) use ($make, $resource, $ttl) {
        $lease = $make()->acquire($resource, 0, $ttl);
        $say($lease->fencingToken);
        $hear();
    });
    $fence = $child->hear();
    $child->kill();
    within(50, redis_raw()->cmd('PTTL', $prefix . $resource) / 1000, $ttl, "$name: the lease time left after the kill");
    same(null, $make()->tryAcquire($resource), "$name: until then");
    // A waiter acquires the lock when the lease ends, which is soon, and not before.
    $left = 0.5;
    $start = now();
    for ($i = 0; $i < 3; $i++) {
        redis_raw($i)->cmd('PEXPIRE', $prefix . $resource, (int) ($left * 1000));
    }
    $lease = $make()->acquire($resource, 60);
    within($left, now() - $start, $left + SOON, "$name: the wait");
    holds($lease->fencingToken > $fence, "$name: the fencing token rises", $fence, $lease->fencingToken);
    same(true, $lease->release(), "$name: release()");
}
echo "done\n";
?>
--EXPECT--
done
