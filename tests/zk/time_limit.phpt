--TEST--
ZkLock: the time limit ends a wait, and leaves nothing of it in line
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

$zk = zk_raw();
$resource = unique();
$lock = new ZkLock(zk_hosts());
$lock->lock($resource, 0);
// The time limit is reached in a handler. PHP blocks all signals meanwhile; the limit takes effect when the wait
// continues.
$script = php_child('
    $lock = new ZkLock($argv[1], sessionTimeout: 50);
    $lock->isLocked($argv[2]);
    set_time_limit(1);
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, function () {
        PHP_ZTS || posix_kill(posix_getpid(), 27); // as in reach_time_limit()
        while (PHP_ZTS && getrusage()["ru_utime.tv_sec"] < 2);
    });
    $lock->lock($argv[2]);
    echo "locked\n";
', [zk_hosts(), $resource]);
wait_for_nodes($zk, 2, $resource);
$script->signal(SIGUSR1);
$output = $script->readAll(120);
$zk = zk_raw(); // the session may have expired, because it was not used meanwhile
holds(str_contains($output, 'Maximum execution time of 1 second exceeded'), 'what it says', $output);
same(255, $script->wait(), 'its exit code');
same(1, count(zk_nodes($zk, $resource)), 'nodes after its end');
same(true, $lock->release($resource), 'release()');
echo "done\n";
?>
--EXPECT--
done
