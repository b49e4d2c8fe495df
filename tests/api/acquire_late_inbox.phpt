--TEST--
A waiter does not join the queue if its timeout ends before the server can tell it of its turn
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private();
$holder = (new DistributedLock($server->dsn()))->acquire('slow', 0, 600);
$relay = relay($server->address(), 0.4);
$lock = new DistributedLock('redis://' . $relay->address() . '?read_timeout=30&connect_timeout=30');
$server->raw()->cmd('CONFIG', 'RESETSTAT');
same(null, $lock->tryAcquire('slow', 1.0), 'tryAcquire() over a connection on which a round trip takes 0.8 s');
same(null, command_counts($server->raw())['zadd'] ?? null, 'it has not been in the queue');
same(true, $holder->release(), 'release()');
echo "done\n";
?>
--EXPECT--
done
