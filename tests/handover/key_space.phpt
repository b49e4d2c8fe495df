--TEST--
Resources leave nothing on the servers except the last fencing token, and for two minutes the list of resources that clients waited for
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

foreach (['DistributedLock' => 5000, 'RedLock' => 500] as $kind => $count) {
    $locks = private_locks($kind, 3);
    $manager = $locks->manager();
    for ($i = 0; $i < $count; $i++) {
        $manager->acquire("resource $i", 0, 60)->release() || throw new RuntimeException('the lock was lost');
    }
    // Contended resources: some processes wait and acquire, some give up.
    fork_run(6, function (int $me) use ($locks, $kind) {
        $manager = $locks->manager();
        for ($i = 0; $i < 60; $i++) {
            $lease = $manager->tryAcquire('contended ' . intdiv($i, 4), $me < 4 ? 30 : 0.002, 10);
            pause(0.0005);
            $lease?->release();
        }
    });
    foreach ($locks->raw() as $server => $redis) {
        try {
            wait_for(fn () => array_values(array_diff($redis->cmd('KEYS', '*'), ['dlock:seen'])) === ['dlock:fence'], 60, 'the keys to go');
        } catch (RuntimeException) {
            $keys = array_values(array_diff($redis->cmd('KEYS', '*'), ['dlock:seen'])); // it expires by itself
            same(['dlock:fence'], array_slice($keys, 0, 5), "$kind: keys left on server $server, " . count($keys) . ' in all');
        }
        within(-2, $redis->cmd('PTTL', 'dlock:seen'), 120_000, "$kind: the list on server $server");
        same([], $redis->cmd('PUBSUB', 'CHANNELS'), "$kind: channels left on server $server");
    }
}
echo "done\n";
?>
--EXPECT--
done
