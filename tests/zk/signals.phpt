--TEST--
ZkLock: signals reach PHP during a wait; the wait continues, or ends with the handler's exception and no node
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill', 'pcntl_async_signals');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$zk = zk_raw();
$resource = unique();
$holder = zk_waiter(zk_hosts(), $resource);
same('held', $holder->hear(), 'the holder');

$waiter = fork_child(function (callable $say, callable $hear) use ($resource) {
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, fn () => $say('a signal'));
    pcntl_signal(SIGUSR2, fn () => throw new LogicException('of the handler'));
    $lock = new ZkLock(zk_hosts());
    // Each call waits until a handler's exception ends it.
    foreach ([fn () => $lock->lock($resource), fn () => $lock->acquire($resource, 60), fn () => $lock->tryAcquire($resource, 60),
        fn () => $lock->synchronized($resource, fn () => print("no\n"), 60)] as $wait) {
        try {
            $wait();
            $say('was not interrupted');
        } catch (LogicException $e) {
            $say($e->getMessage());
        }
    }
    // This call continues after each interruption.
    $got = $lock->lock($resource, 60);
    $say('held');
    return [$got, $lock->release($resource)];
});
for ($i = 0; $i < 4; $i++) {
    wait_for_nodes($zk, 2, $resource);
    $node = zk_nodes($zk, $resource)[1];
    for ($k = 0; $k < 3; $k++) {
        $waiter->signal(SIGUSR1);
        same('a signal', $waiter->hear(), "wait $i");
        same($node, zk_nodes($zk, $resource)[1] ?? '', "its place in line after a signal ($i)");
    }
    $waiter->signal(SIGUSR2);
    same('of the handler', $waiter->hear(), "wait $i");
    wait_for(fn () => $zk->exists("/locks/$resource/$node") === null, 60, 'the node to go');
}
wait_for_nodes($zk, 2, $resource);
for ($k = 0; $k < 10; $k++) {
    $waiter->signal(SIGUSR1);
    same('a signal', $waiter->hear(), 'the last wait');
}
$holder->say('release');
same('held', $waiter->hear(), 'the last wait');
same([true, true], $waiter->result(), 'lock(), release()');
same(true, $holder->result(), 'release() of the holder');
wait_for_nodes($zk, 0, $resource);

// Signals during the connect, to a server that accepts and answers nothing.
$silent = stream_socket_server('tcp://127.0.0.1:0');
$port = substr(strrchr(stream_socket_get_name($silent, false), ':'), 1);
$waiter = fork_child(function (callable $say) use ($port) {
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR2, fn () => throw new LogicException('of the handler'));
    $lock = new ZkLock("127.0.0.1:$port", sessionTimeout: 60);
    $say('waits');
    try {
        $lock->lock('x');
    } catch (LogicException $e) {
        return $e->getMessage();
    }
});
same('waits', $waiter->hear(), 'one that connects');
holds(is_resource(stream_socket_accept($silent, 20)), 'it connects');
$time = seconds(function () use ($waiter) {
    $waiter->signal(SIGUSR2);
    same('of the handler', $waiter->result(), 'one that connects');
});
within(0, $time, 40, 'seconds until its end');

// A handler that wants the same lock would wait behind its own process.
$holder = zk_waiter(zk_hosts(), $resource);
same('held', $holder->hear(), 'the holder');
$waiter = fork_child(function (callable $say) use ($resource) {
    $lock = new ZkLock(zk_hosts());
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, function () use ($say, $resource) {
        $lock = new ZkLock(zk_hosts());
        $say([$lock->lock($resource, 0), thrown_by(fn () => $lock->lock($resource, 40))?->getMessage()]);
    });
    return [$lock->lock($resource, 60), $lock->release($resource)];
});
wait_for_nodes($zk, 2, $resource);
$waiter->signal(SIGUSR1);
same([false, "This process waits for the lock \"$resource\" already, and would wait for itself"], $waiter->hear(), 'the lock in a handler');
$holder->say('release');
same([true, true], $waiter->result(), 'the wait that was interrupted');
same(true, $holder->result(), 'release() of the holder');
wait_for_nodes($zk, 0, $resource);

// Ctrl-C ends a script that waits, and its end frees its place in line.
$lock = new ZkLock(zk_hosts());
$lock->lock($resource, 10);
$script = php_child('(new ZkLock($argv[1], sessionTimeout: 3.5))->lock($argv[2]);', [zk_hosts(), $resource]);
wait_for_nodes($zk, 2, $resource);
$script->signal(SIGINT);
same(128 + SIGINT, $script->wait(), 'the end of a script by Ctrl-C');
wait_for_nodes($zk, 1, $resource);
echo "done\n";
?>
--EXPECT--
done
