--TEST--
A dlock switch is killed or interrupted while writes are paused: writes continue; the doctor sees the setting that it leaves, and the next switch restores it
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
require __DIR__ . '/../inc/seen.inc';
require __DIR__ . '/../inc/replicated.inc';

// So that Sentinels and the master tolerate a replica that is stopped for a while, and a master whose writes are
// paused: that delays what Sentinels publish, and their pings behind it.
$set = new SentinelSet(downAfter: 60_000, config: ['repl-timeout 60', 'min-replicas-to-write 1']);
$dsn = $set->dsn(['guard' => 3]);
$locks = new DistributedLock($dsn, ttl: 3.0);
$log = temporary_directory() . '/log';
$period = fn (ReplicatedRedis $server) => $server->raw()->cmd('CONFIG', 'GET', 'repl-ping-replica-period')[1];

/** Begins a switch and signals it while it waits for a stopped replica. */
$end = function (int $signal) use ($set, $dsn, $log, $period): ReplicatedRedis {
    $master = $set->master();
    $redis = $master->raw();
    $redis->cmd('SET', 'Lock:dlock-switch', 'another', 'PX', '600000'); // it waits for this lock
    $tool = start_dlock(["--server=$dsn", '--timeout=300', 'switch'], $log);
    wait_for(fn () => $redis->cmd('ZCARD', 'dlock:queue:{Lock:dlock-switch}') === 1, 120, 'the tool to wait');
    $replica = $set->replicas()[0];
    $replica->pause();
    $redis->cmd('DEL', 'Lock:dlock-switch');
    wait_for(fn () => $period($master) !== '10', 60, 'pings to be stopped');
    posix_kill(proc_get_status($tool)['pid'], $signal);
    wait_for(fn () => !proc_get_status($tool)['running'], 60, 'the tool to end');
    proc_close($tool);
    $replica->resume();
    $set->waitUntilWell(60);
    same($master->port, $set->master()->port, 'nothing was switched');
    return $master;
};

if (extension_loaded('pcntl')) {
    $master = $end(SIGINT);
    same('10', $period($master), 'the setting is put back by one that is interrupted');
    holds(str_contains((string) file_get_contents($log), 'interrupted'), 'what it says', file_get_contents($log));
}

$master = $end(SIGKILL);
$locks->acquire('a', timeout: 60.0)->release();
$texts = finds(['pings' => 'warning'], [$dsn, '--ttl=3', '--ignore=unsettled,down-after,few-replicas'], 'after a kill');
holds(preg_match("/^ {$master->address()} sends no pings to its replicas: a dlock switch was killed\. .* CONFIG SET repl-ping-replica-period 10\.$/", $texts['pings'] ?? '') === 1, 'after a kill', $texts);
$run = dlock(["--server=$dsn", '--timeout=120', '--json', 'switch']);
same([0, ''], [$run->status, $run->errors], 'the next switch');
$set->waitUntilWell(60);
foreach ($set->servers as $server) {
    same('10', $period($server), 'the setting is as before');
    $server->restart();
    same('10', $period($server), 'and in the configuration that Sentinels have had written');
}
echo "done\n";
?>
--EXPECT--
done
