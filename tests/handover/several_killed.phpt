--TEST--
Several locks at once, whose holders and waiters are killed and stopped: never two holders, rising fencing tokens, and nothing is left
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/several_killed.inc';

/* scripts/test-all.sh runs it with more kills, and tests/long while Redis fails over. */
$server = redis_private();
$kills = (int) (getenv('DLOCK_SEVERAL_KILLS') ?: 24);
kill_several($kills, fn () => new DistributedLock($server->dsn(), ttl: 0.5, renew: true), $server->raw(...));

$servers = [$server, redis_private(), redis_private()];
kill_several(intdiv($kills, 2), fn () => new RedLock(array_map(fn (PrivateRedis $one) => $one->dsn(), $servers), prefix: 'Lock:', ttl: 0.5, renew: true), $server->raw(...));
echo "done\n";
?>
--EXPECT--
done
