--TEST--
ZkLock names a full server as the reason why there is no session
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$server = zk_private(['maxClientCnxns' => 2]);
$connected = [$server->raw(), $server->raw()];
$lock = new ZkLock($server->hosts(), sessionTimeout: 8);
$time = seconds(fn () => fails('Dlock\ConnectionException', "ZooKeeper at {$server->hosts()}: *maxClientCnxns*", fn () => $lock->lock('x', 0)));
within(0, $time, 60, 'seconds');
fails('Dlock\ConnectionException', '*maxClientCnxns*', fn () => $lock->acquire('x'));
// The same object connects when there is room.
$connected[0]->close();
same(true, wait_for(function () use ($lock) {
    try {
        return $lock->lock('x', 0);
    } catch (Dlock\ConnectionException) {
        return false;
    }
}, 60, 'the lock'), 'lock() when there is room');
same(true, $lock->release('x'), 'release()');
echo "done\n";
?>
--EXPECT--
done
