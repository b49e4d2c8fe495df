--TEST--
RedLock under contention: no overlap, and everybody has its turns
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
require __DIR__ . '/../inc/handover.inc';

const SECTIONS = 25;
[, $red] = shared_locks();
$resource = unique();
$gate = gate();
fork_run(20, function () use ($red, $resource, $gate) {
    $manager = $red->manager();
    for ($i = 0; $i < SECTIONS; $i++) {
        $lease = $manager->acquire($resource, 100, 60);
        enter($gate);
        pause(0.001);
        leave($gate);
        $lease->release() || throw new RuntimeException('the lock was lost');
    }
}, 'exit', 110);
$red->waitUntilQueuesGone($resource);
echo "done\n";
?>
--EXPECT--
done
