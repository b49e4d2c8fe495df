--TEST--
dlock-doctor says why a Redis server refuses writes: a failed save, too few replicas, a script that does not end
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

$server = redis_private(['save 3600 1']);
$redis = $server->raw();
$refuses = function (string $advice) use ($server) {
    $texts = finds(['persistence' => 'warning', 'refuses' => 'problem'], [$server->dsn()], $advice);
    holds(str_contains($texts['refuses'] ?? '', $advice), "$advice: what to do", $texts);
};
finds(['persistence' => 'warning'], [$server->dsn()], 'before');

$redis->cmd('CONFIG', 'SET', 'min-replicas-to-write', 1);
$refuses('see min-replicas-to-write');
$redis->cmd('CONFIG', 'SET', 'min-replicas-to-write', 0);

$redis->cmd('SET', 'x', 'y');
exec('rm -rf ' . escapeshellarg($server->dir));
$redis->cmd('BGSAVE');
wait_for(fn () => str_contains($redis->cmd('INFO', 'persistence'), 'rdb_last_bgsave_status:err'), 60, 'the save to fail');
$refuses('fix that, or see stop-writes-on-bgsave-error');
$redis->cmd('CONFIG', 'SET', 'stop-writes-on-bgsave-error', 'no');
finds(['persistence' => 'warning'], [$server->dsn()], 'after');

$redis->cmd('CONFIG', 'SET', 'lua-time-limit', 10);
$redis->send('EVAL', 'while true do end', 0);
$other = $server->raw();
wait_for(fn () => str_starts_with((string) thrown_by(fn () => $other->cmd('PING'))?->getMessage(), 'Redis: BUSY'), 60, 'the script to take too long');
$texts = finds(['refuses' => 'problem'], [$server->dsn()], 'a script');
holds(str_contains($texts['refuses'] ?? '', 'see SCRIPT KILL'), 'a script: what to do', $texts);
echo "done\n";
?>
--EXPECT--
done
