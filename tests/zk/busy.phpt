--TEST--
ZkLock holds a lock through two session timeouts during which PHP never looks up
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$timeout = 7.0;
$zk = zk_raw();
$resource = unique();
$lock = new ZkLock(zk_hosts(), sessionTimeout: $timeout);
$lease = $lock->acquire($resource, 0);
$owner = zk_owner($zk, $resource);
$other = fork_child(fn () => (new ZkLock(zk_hosts(), sessionTimeout: $timeout))->lock($resource, 14.5));
pause(15);
same([true, Dlock\LeaseState::Held], [$lease->isHeld(), $lease->state()], 'after 15 s');
within(0.001, $lease->remaining(), $timeout, 'remaining()');
same(false, $other->result(), 'lock() by another process meanwhile');
same($owner, zk_owner($zk, $resource), 'the session');
same(true, $lease->release(), 'release()');
echo "done\n";
?>
--EXPECT--
done
