--TEST--
dlock-doctor reports replicas, Sentinels and nodes of a cluster
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

$kept = ['appendonly yes', 'appendfsync always'];
$master = redis_private($kept);
$replica = redis_private(["replicaof 127.0.0.1 $master->port", 'repl-diskless-sync-delay 0']);
$redis = $master->raw();
wait_for(fn () => str_contains($redis->cmd('INFO', 'replication'), 'state=online'), 60, 'the replica');
finds(['replica' => 'problem'], [$replica->dsn()], 'a replica');
$replica->raw()->cmd('ACL', 'SETUSER', 'blind', 'on', '>secret', '~*', '&*', '+@all', '-info');
$texts = finds(['refuses' => 'problem', 'unseen' => 'note'], [str_replace('//', '//blind:secret@', $replica->dsn())], 'a replica that does not say so');
holds(str_contains($texts['refuses'] ?? '', 'It is a replica'), 'a replica that does not say so', $texts);
$replica->raw()->cmd('CONFIG', 'SET', 'replica-read-only', 'no');
finds(['replica' => 'problem'], [$replica->dsn()], 'a replica that can be written to');
$texts = finds(['replicas' => 'warning'], [$master->dsn()], 'a master');
holds(str_contains($texts['replicas'] ?? '', 'has 1 replica. '), 'a master with a replica', $texts);
finds(['replicas' => 'warning', 'few-servers' => 'warning'], [$master->dsn(), '--class=RedLock'], 'a master of RedLock');

$dir = temporary_directory();
for ($ready = false; !$ready;) {
    $port = random_int(10240, 32000);
    file_put_contents("$dir/sentinel.conf", "bind 127.0.0.1\nport $port\ndir $dir\nsentinel monitor locks 127.0.0.1 $master->port 1\n");
    $sentinel = start_server(['redis-server', "$dir/sentinel.conf", '--sentinel'], "$dir/log");
    $ready = wait_for(fn () => str_contains((string) file_get_contents("$dir/log"), '+monitor') ? 'ready' : (proc_get_status($sentinel)['running'] ? '' : 'ended'),
        20, 'the Sentinel') === 'ready'; // another process may have the port
}
wait_for(fn () => $redis->cmd('PUBSUB', 'NUMSUB', '__sentinel__:hello')[1] === 1, 60, 'the Sentinel to watch');
$texts = finds(['replicas' => 'warning'], [$master->dsn()], 'a master that is watched');
holds(str_contains($texts['replicas'] ?? '', 'has 1 replica, and 1 Sentinel watches over it. '), 'a master that is watched', $texts);
finds(['sentinel' => 'problem'], ["redis://127.0.0.1:$port"], 'a Sentinel');
$texts = finds(['down-after' => 'warning', 'few-replicas' => 'warning', 'few-sentinels' => 'warning', 'min-replicas' => 'note', 'unsettled' => 'warning'],
    ["sentinel://127.0.0.1:$port/locks"], 'one Sentinel, one replica');
holds(str_contains($texts['down-after'] ?? '', 'after 30 s'), 'one Sentinel, one replica', $texts);

$node = redis_private(['cluster-enabled yes']);
finds(['cluster' => 'problem'], [$node->dsn()], 'a node of a cluster');
proc_terminate($sentinel, SIGKILL);
proc_close($sentinel);
echo "done\n";
?>
--EXPECT--
done
