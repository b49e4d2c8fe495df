--TEST--
While a server loads its data, a ConnectionException reports it
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// Loading takes 1 ms for each of 30,000 keys; the server answers in between.
$server = redis_private(['enable-debug-command local', 'loading-process-events-interval-bytes 1024', 'key-load-delay 1000']);
$redis = $server->raw();
$redis->cmd('EVAL', 'for i = 1, 30000 do redis.call("SET", "k" .. i, string.rep("x", 50)) end', 0);
$lock = new DistributedLock($server->dsn() . '?read_timeout=30');
same(true, $lock->lock('before', 0), 'lock() before');

$redis->send('DEBUG', 'RELOAD');
$other = $server->raw();
wait_for(fn () => str_contains($other->cmd('INFO', 'persistence'), "\nloading:1"), 60, 'the server to load');
fails(Dlock\ConnectionException::class, "Redis at {$server->address()}: LOADING *; try again when it has loaded its data", fn () => $lock->lock('x', 0));
fails(Dlock\QuorumException::class, "1 of 1 servers failed (quorum 1): Redis at {$server->address()}: LOADING *", fn () => (new RedLock([$server->dsn()]))->acquire('x'));
$other->cmd('CONFIG', 'SET', 'key-load-delay', 0);
wait_for(fn () => str_contains($other->cmd('INFO', 'persistence'), "\nloading:0"), 60, 'the server to have loaded');
same(true, $lock->isLocking('before'), 'isLocking() after');
same(true, $lock->lock('x', 0), 'lock() after');
echo "done\n";
?>
--EXPECT--
done
