--TEST--
Parent and children wait for each other's locks, also if the parent held when it forked the children
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

foreach ([new DistributedLock(redis_server()), new RedLock(redis_servers(3)), (new Dlock\ReadWriteLock(redis_server()))->writeLock()] as $manager) {
    $name = $manager::class;
    $resource = unique($name);
    $lease = $manager->acquire($resource, 0, 1000);
    $children = [];
    for ($i = 0; $i < 3; $i++) {
        $children[] = fork_child(function () use ($manager, $resource) {
            $lease = $manager->acquire($resource, 60, 1000);
            return [$lease->isHeld(), $lease->fencingToken, $lease->release()];
        });
    }
    pause(0.02);
    same(true, $lease->isHeld(), "$name: the parent, while children wait");
    $tokens = [$lease->fencingToken];
    same(true, $lease->release(), "$name: release() of the parent");
    foreach ($children as $child) {
        [$held, $token, $released] = $child->result();
        same([true, true], [$held, $released], "$name: a child");
        $tokens[] = $token;
    }
    same(4, count(array_unique($tokens)), "$name: fencing tokens");
    same($tokens[0], min($tokens), "$name: the parent's was the first");

    // Now the parent waits for a child.
    $child = fork_child(function (callable $say, callable $hear) use ($manager, $resource) {
        $lease = $manager->acquire($resource, 0, 1000);
        $say('held');
        $hear();
        return $lease->release();
    });
    same('held', $child->hear(), "$name: the child");
    same(null, $manager->tryAcquire($resource), "$name: while the child holds");
    $child->say('release');
    same(true, $manager->acquire($resource, 60)->release(), "$name: after the child");
    same(true, $child->result(), "$name: release() of the child");
}
echo "done\n";
?>
--EXPECT--
done
