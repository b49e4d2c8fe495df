--TEST--
A lease that goes out of scope is released at once, even on a server that has never seen the script for it
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private();
$redis = $server->raw();

// The scope ends, and no further call follows, because the process may be busy with other work for long.
$lock = new DistributedLock($server->dsn());
$lease = $lock->acquire('first', ttl: 1000);
unset($lease);
echo 'DistributedLock, new server: ', gone($redis, 'Lock:first'), "\n";

$lease = $lock->acquire('second', ttl: 1000);
$redis->cmd('SCRIPT', 'FLUSH');
unset($lease);
echo 'DistributedLock, scripts flushed: ', gone($redis, 'Lock:second'), "\n";

$lock->lock('third', 0, 1000);
$redis->cmd('SCRIPT', 'FLUSH');
unset($lock);
echo 'DistributedLock, with the object: ', gone($redis, 'Lock:third'), "\n";

$red = new RedLock([$server->dsn()]);
$lease = $red->acquire('fourth', ttl: 1000);
$redis->cmd('SCRIPT', 'FLUSH');
unset($lease);
echo 'RedLock, scripts flushed: ', gone($redis, 'fourth'), "\n";

function gone(RedisRaw $redis, string $key): string
{
    try {
        wait_until_gone($redis, $key, 3);
        return 'released';
    } catch (RuntimeException) {
        return 'still locked';
    }
}
?>
--EXPECT--
DistributedLock, new server: released
DistributedLock, scripts flushed: released
DistributedLock, with the object: released
RedLock, scripts flushed: released
