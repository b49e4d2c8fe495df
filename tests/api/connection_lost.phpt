--TEST--
dlock replaces a connection that the server closed, idle or during a wait, without an error for the caller; it sends forgotten scripts again
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private(['user app on >secret ~* &* +@all']);
$redis = $server->raw();
$kill = fn () => $redis->cmd('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
$dsn = "redis://app:secret@{$server->address()}/3";
$lock = new DistributedLock($dsn);
$red = new RedLock([$dsn]);
$lock->acquire('warm')->release();

// The test kills the idle connection before each call, one call after the other.
$calls = [
    'lock' => fn () => $lock->lock('x', 0, 100), 'isLocking' => fn () => $lock->isLocking('x'), 'isLocked' => fn () => $lock->isLocked('x'),
    'expire' => fn () => $lock->expire('x', 200), 'release' => fn () => $lock->release('x'), 'unlockAll' => fn () => $lock->unlockAll(),
    'acquire' => function () use ($lock, &$lease) {
        $lease = $lock->acquire('x', 0, 100);
        return $lease->isHeld();
    },
    'refresh' => function () use (&$lease) {
        return $lease->refresh(200) === null;
    },
    'Lease::release' => function () use (&$lease) {
        return $lease->release();
    },
    'detach' => function () use ($lock, &$handle) {
        return is_string($handle = $lock->acquire('x', 0, 100)->detach());
    },
    'attach' => function () use ($lock, &$handle) {
        return $lock->attach($handle)->release();
    },
    'RedLock::lock' => function () use ($red, &$held) {
        return is_array($held = $red->lock('x'));
    },
    'RedLock::unlock' => function () use ($red, &$held) {
        return $red->unlock($held);
    },
];
foreach ($calls as $what => $call) {
    same(1, $kill(), "connections killed before $what()");
    $before = connections_received($redis);
    same(true, $call(), "$what() after the connection was killed");
    same($before + ($what === 'unlockAll' ? 0 : 1), connections_received($redis), "connections for $what()");
    if ($what === 'unlockAll') {
        $lock->isLocked('x'); // connects: unlockAll() sends nothing if nothing is held
    }
}

// The same when a lease goes out of scope: the release opens a new connection.
$scope = $lock->acquire('scope', 0, 1000);
$kill();
unset($scope);
same(false, $lock->isLocked('scope'), 'a lease that went out of scope without a connection');

// The server forgets the scripts.
foreach (['lock', 'isLocking', 'expire', 'release', 'acquire', 'refresh', 'Lease::release', 'RedLock::lock', 'RedLock::unlock'] as $what) {
    $redis->cmd('SCRIPT', 'FLUSH');
    same(true, $calls[$what](), "$what() after SCRIPT FLUSH");
}

// The test kills the waiter's connection again and again.
$holder = new DistributedLock($server->dsn() . '/3');
same(true, $holder->lock('contended', 0, 100), 'lock() of the holder');
$parents = array_map('strval', client_ids($redis));
$waiter = fork_child(function (callable $say) use ($dsn) {
    $lock = new DistributedLock($dsn);
    $lock->acquire('warm')->release();
    $say('waits');
    $got = $lock->lock('contended', 60);
    return [$got, $lock->isLocking('contended'), $lock->release('contended')];
});
same('waits', $waiter->hear(), 'the waiter');
$killed = [];
for ($i = 0; $i < 5; $i++) {
    // Each time the waiter has a new connection, over which it has asked again.
    $id = wait_for(function () use ($redis, $parents, &$killed) {
        preg_match_all('/^id=(\d+) .*cmd=evalsha.* user=app/m', $redis->cmd('CLIENT', 'LIST'), $found);
        return array_values(array_diff($found[1], $parents, $killed))[0] ?? null;
    }, 60, 'the waiter to ask again');
    thrown_by(fn () => $redis->cmd('CLIENT', 'KILL', 'ID', $id));
    $killed[] = $id;
}
same(true, $holder->isLocking('contended'), 'isLocking() of the holder');
same(true, $holder->release('contended'), 'release() of the holder');
same([true, true, true], $waiter->result(), 'the waiter, once it is free');

// The test kills a connection with a request under way: the client repeats the request, once. The server keeps scripts
// waiting here.
$blocked = function () use ($redis): array {
    preg_match_all('/^id=(\d+) .*flags=b .*user=app/m', $redis->cmd('CLIENT', 'LIST'), $found);
    return $found[1];
};
$redis->cmd('CLIENT', 'PAUSE', 60_000, 'WRITE');
$asker = fork_child(fn () => (new DistributedLock("$dsn?read_timeout=50"))->lock('asked', 0));
[$id] = wait_for($blocked, 60, 'the question');
$redis->cmd('CLIENT', 'KILL', 'ID', $id);
[$next] = wait_for($blocked, 60, 'the question over a new connection');
holds($next !== $id, 'it is a new connection');
$redis->cmd('CLIENT', 'UNPAUSE');
same(true, $asker->result(), 'what was asked twice');

// After the server has restarted, the lock is gone, and the client connects again.
same(true, $lock->lock('restart', 0, 100), 'lock() before a restart');
$server->restart();
$server->raw()->cmd('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all');
same(false, $lock->isLocking('restart'), 'isLocking() after a restart');
same(true, $lock->lock('restart', 0, 100), 'lock() after a restart');

// While the server is down, each call fails again. Calls work at once after it has returned.
$server->kill();
for ($i = 0; $i < 3; $i++) {
    fails(Dlock\ConnectionException::class, "Redis at {$server->address()}: Connection refused", fn () => $lock->tryAcquire('gone'));
}
$server->restart();
$server->raw()->cmd('ACL', 'SETUSER', 'app', 'on', '>secret', '~*', '&*', '+@all');
same('gone', $lock->tryAcquire('gone')?->resource, 'tryAcquire() when the server is back');
echo "done\n";
?>
--EXPECT--
done
