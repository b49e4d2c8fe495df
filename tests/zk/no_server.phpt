--TEST--
ZkLock: servers that cannot be reached cause a ConnectionException that names them, in time
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$calls = [
    'lock' => fn ($lock) => $lock->lock('x'),
    'lock, once' => fn ($lock) => $lock->lock('x', 0),
    'acquire' => fn ($lock) => $lock->acquire('x'),
    'tryAcquire' => fn ($lock) => $lock->tryAcquire('x'),
    'synchronized' => fn ($lock) => $lock->synchronized('x', fn () => print("no\n")),
    'isLocked' => fn ($lock) => $lock->isLocked('x'),
];
$refused_by = fn (string $hosts) => "ZooKeeper at $hosts: no connection for * s (127.0.0.1:*: Connection refused)";
$two = '127.0.0.1:' . closed_port() . ',127.0.0.1:' . closed_port();
$hosts = '127.0.0.1:' . closed_port();
$refused = $refused_by($hosts);
// Each call in a process of its own, because a session tries a hundred times a second while its process lives.
fork_run(count($calls) + 1, function (int $i) use ($calls, $two, $hosts, $refused, $refused_by) {
    if ($i === count($calls)) {
        return fails('Dlock\ConnectionException', $refused_by($two), fn () => (new ZkLock($two, sessionTimeout: 0.5))->lock('x'), 'two servers');
    }
    [$name, $call] = [array_keys($calls)[$i], array_values($calls)[$i]];
    $lock = new ZkLock($hosts, sessionTimeout: 0.5);
    $time = seconds(fn () => fails('Dlock\ConnectionException', $refused, fn () => $call($lock), $name));
    within(0.5, $time, SOON, "seconds of $name()");
    same(false, $lock->release('x'), "release() after $name()");
});

// If there has been no connection for that long already, no call waits beyond its own timeout. Otherwise the workers of
// a pool would all wait.
$lock = new ZkLock($hosts, sessionTimeout: 5);
within(5, seconds(fn () => fails('Dlock\ConnectionException', $refused, fn () => $lock->tryAcquire('x'))), SOON, 'seconds of the first call');
foreach (['lock, once', 'tryAcquire', 'isLocked'] as $name) {
    within(0, seconds(fn () => fails('Dlock\ConnectionException', $refused, fn () => $calls[$name]($lock), $name)), SOON, "seconds of $name(), later");
}
within(1, seconds(fn () => fails('Dlock\ConnectionException', $refused, fn () => $lock->acquire('x', 1))), SOON, 'seconds of acquire() with a timeout');
within(5, seconds(fn () => fails('Dlock\ConnectionException', $refused, fn () => $lock->acquire('x'))), SOON, 'seconds of acquire(), which has a minute');

// A server that accepts, and answers nothing. The kernel accepts for it.
$silent = stream_socket_server('tcp://127.0.0.1:0');
$hosts = stream_socket_get_name($silent, false);
$lock = new ZkLock($hosts, sessionTimeout: 0.5);
$time = seconds(fn () => fails('Dlock\ConnectionException', "ZooKeeper at $hosts: no connection for * s*", fn () => $lock->lock('x')));
within(0.1, $time, SOON, 'seconds with a silent server');

// Unknown names, which the client library does not accept in a list either.
$time = seconds(fn () => fails('Dlock\ConnectionException', 'ZooKeeper at no-such-host.invalid:2181: *resolved*',
    fn () => (new ZkLock('no-such-host.invalid:2181', sessionTimeout: 1))->lock('x')));
within(0, $time, 30, 'seconds with an unknown host');

// A server that starts after a while.
$port = closed_port();
$dead = "127.0.0.1:$port";
$lock = new ZkLock("$dead," . zk_hosts(), sessionTimeout: 10);
same([true, true], [$lock->lock(unique(), 0), $lock->release(unique())], 'one of two servers is dead');
$lock = new ZkLock(zk_hosts() . ",$dead", sessionTimeout: 10);
same([true, true], [$lock->lock(unique(), 0), $lock->release(unique())], 'one of two servers is dead');
$lock = new ZkLock(['host' => '127.0.0.1', 'port' => (int) explode(':', zk_hosts())[1]]);
same([true, true], [$lock->lock(unique(), 0), $lock->release(unique())], 'the array form');
$lock = new ZkLock(['host' => '127.0.0.1', 'port' => explode(':', zk_hosts())[1]]);
same([true, true], [$lock->lock(unique(), 0), $lock->release(unique())], 'with a port from the environment');
$lock = new ZkLock(['host' => zk_hosts()]);
same([true, true], [$lock->lock(unique(), 0), $lock->release(unique())], 'the array form without port');

// The object works when the server has started.
$server = zk_private();
$lock = new ZkLock($server->hosts(), sessionTimeout: 2);
$server->kill();
fails('Dlock\ConnectionException', "ZooKeeper at {$server->hosts()}: no connection for * s (*Connection refused)", fn () => $lock->lock('x'));
$server->restart();
same(true, wait_for(function () use ($lock) {
    try {
        return $lock->lock('x', 0);
    } catch (Dlock\ConnectionException) {
        return false;
    }
}, 60, 'the lock'), 'lock() when the server is there');
// A release that does not reach the server reports it.
$lock = new ZkLock($server->hosts(), sessionTimeout: 10); // longer than the server takes to end
same(true, $lock->lock('w', 60), 'a lock');
$server->kill();
fails('Dlock\ConnectionException', "ZooKeeper at {$server->hosts()}: *", fn () => $lock->release('w'), 'release()');
same(false, $lock->release('w'), 'a second release()');

// A lock that is lost by then is released without a wait.
$server->restart();
$lock = new ZkLock($server->hosts(), sessionTimeout: 10);
same([true, true], [$lock->lock('x'), $lock->lock('y')], 'two locks');
$lease = $lock->acquire('z');
$server->kill();
wait_for(fn () => $lease->state() === Dlock\LeaseState::Lost, 60, 'the loss');
$releases = ["release('x')" => fn () => $lock->release('x'), "release('y')" => fn () => $lock->release('y'), 'Lease::release()' => fn () => $lease->release()];
foreach ($releases as $name => $release) {
    within(0, seconds(fn () => same(false, $release(), $name)), SOON, "seconds of $name");
}
echo "done\n";
?>
--EXPECT--
done
