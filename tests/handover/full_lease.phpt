--TEST--
What was handed over is held for the full lease time, also on a server that has not seen the scripts before
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

foreach (['a new server' => false, 'after SCRIPT FLUSH' => true] as $name => $flush) {
    $locks = private_locks('DistributedLock');
    [$redis] = $locks->raw();
    if ($flush) {
        $warm = $locks->manager()->acquire('warm', 0, 100);
        $warm->refresh();
        $warm->release();
    }
    $resource = unique($name);
    $lease = $locks->manager()->acquire($resource, 0, 100);
    $waiter = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
        $lease = $locks->manager()->acquire($resource, 60, 60);
        $say('holds');
        $hear(); // works for a while, without a look at the lease
        return [$lease->isHeld(), $lease->release()];
    });
    at_end($waiter->kill(...));
    $locks->waitUntilQueued($resource, 1);
    $flush && $redis->cmd('SCRIPT', 'FLUSH');
    same(true, $lease->release(), "$name: the holder");
    same('holds', $waiter->hear(), $name);
    $granted = now();
    wait_for(fn () => $redis->cmd('PTTL', Locks::key($resource)) > 40_000, 60, "$name: the full lease time on the server");
    within(0.2, now() - $granted, SOON, "$name: seconds until then, while the grant lasts");
    pause(3.0); // longer than a grant that is not taken up
    same(1, $redis->cmd('EXISTS', Locks::key($resource)), "$name: the key after the time of a grant");
    $waiter->say('end');
    same([true, true], $waiter->result(), "$name: held, and released");
}
echo "done\n";
?>
--EXPECT--
done
