--TEST--
onLoss: "throw": the loss of a lease that a signal handler acquired during a wait ends that wait
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper(); // its waiters do not look by themselves
skip_unless_functions('pcntl_fork', 'pcntl_async_signals', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$resource = unique();
$holder = zk_waiter(zk_hosts(), $resource);
same('held', $holder->hear(), 'the holder');
$waiter = fork_child(function (callable $say) use ($resource, &$lease) {
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, function () use ($resource, &$lease) {
        $lease = patiently(fn () => (new DistributedLock(redis_server(), onLoss: 'throw'))->acquire($resource, 60, 1));
    });
    $start = now();
    return [thrown_by(fn () => (new ZkLock(zk_hosts()))->acquire($resource, 60))?->getMessage(), now() - $start];
});
wait_for_nodes(zk_raw(), 2, $resource);
$waiter->signal(SIGUSR1);
[$message, $time] = $waiter->result(100);
same("The lock \"$resource\" was lost while it was held", $message, 'the wait');
within(0, $time, SOON, 'seconds until it is thrown');
$holder->say('release');
same(true, $holder->result(), 'release() of the holder');
echo "done\n";
?>
--EXPECT--
done
