--TEST--
ZkLock: a server that hangs delays a call by the session timeout, from the call on, and later calls only by their own timeout
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

const SESSION_TIMEOUT = 8;

$server = zk_private();
$lock = new ZkLock($server->hosts(), sessionTimeout: SESSION_TIMEOUT);
same([true, true], [$lock->lock('x', 0), $lock->release('x')], 'a session');
$server->pause();
$call = fn (float $timeout) => seconds(fn () => fails('Dlock\ConnectionException', "ZooKeeper at {$server->hosts()}: no connection for * s*",
    fn () => $lock->tryAcquire('x', $timeout), "within $timeout s"));
// The client library needs two thirds of the timeout to find out.
within(SESSION_TIMEOUT * 0.9, $call(0.1), SOON, 'seconds of the first call');
within(0, $call(0.1), SOON, 'seconds of the second');
within(0, $call(0.1), SOON, 'seconds of the third');
within(1, $call(1), SOON, 'seconds of one that may take a second');

$server->resume();
$lock = $lock->tryAcquire('x', 60);
same(true, $lock?->isHeld(), 'when it goes on');
echo "done\n";
?>
--EXPECT--
done
