--TEST--
If a server refuses a command, a ConnectionException names the server, says what it answered, and what can be done
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/replicated.inc';

/** Each call that asks the server, or each of $methods, fails with this message. */
function refuses(string $what, DistributedLock $lock, string $message, string ...$methods): void
{
    $calls = [
        'lock' => fn () => $lock->lock('Lock', 0), 'acquire' => fn () => $lock->acquire('x'), 'tryAcquire' => fn () => $lock->tryAcquire('x'),
        'synchronized' => fn () => $lock->synchronized('x', fn () => print "the section ran\n"), 'isLocked' => fn () => $lock->isLocked('x'),
    ];
    foreach ($calls as $method => $call) {
        if (!$methods || in_array($method, $methods, true)) {
            fails(Dlock\ConnectionException::class, $message, $call, "$what, $method()");
        }
    }
}

// Who may log in?
$auth = test_env('DLOCK_TEST_REDIS_AUTH');
refuses('no password', new DistributedLock("redis://$auth"), "Redis at $auth: *; it needs a password: *");
refuses('a wrong password', new DistributedLock("redis://app:wrong@$auth"), "Redis at $auth: WRONGPASS invalid username-password pair or user is disabled");
refuses('a wrong password of the default user', new DistributedLock("redis://:wrong@$auth"), "Redis at $auth: WRONGPASS *");
refuses('no such user', new DistributedLock("redis://nobody:x@$auth"), "Redis at $auth: WRONGPASS *");
refuses('a password where none is wanted', new DistributedLock('redis://:surplus@' . redis_addresses()[0]), 'Redis at ' . redis_addresses()[0] . ': ERR AUTH *');

// Who may use which keys?
$limited = redis_auth_server('limited');
$key = unique();
same(true, (new DistributedLock($limited))->lock($key, 0), 'a user who may use these keys');
refuses('a user who may not use these keys', new DistributedLock($limited, 'other:'), "Redis at $auth: NOPERM *; the user needs the commands, and the keys by their prefix, that docs/operations.md lists");

// Which databases are there?
refuses('a database that is not there', new DistributedLock(redis_server() . '/999'), 'Redis at ' . redis_addresses()[0] . ': ERR DB index is out of range');

// A key of another type.
$redis = redis_raw();
$lock = new DistributedLock(redis_server(), $prefix = unique('list') . ':');
$redis->cmd('RPUSH', "{$prefix}x", 'element');
$wrong = 'Redis at ' . redis_addresses()[0] . ': WRONGTYPE Operation against a key holding the wrong kind of value; the key is used for something else than a lock';
refuses('a list', $lock, $wrong, 'acquire', 'tryAcquire', 'synchronized');
same(true, $lock->isLocked('x'), 'isLocked() of a list');
same(1, $redis->cmd('LLEN', "{$prefix}x"), 'the list');
$redis->cmd('DEL', "{$prefix}x");
// The key changed its type while the lock was held.
$lease = $lock->acquire('x');
$redis->cmd('DEL', "{$prefix}x");
$redis->cmd('RPUSH', "{$prefix}x", 'element');
fails(Dlock\ConnectionException::class, $wrong, fn () => $lease->refresh());
fails(Dlock\ConnectionException::class, $wrong, fn () => $lease->release());
unset($lease);
same(1, $redis->cmd('LLEN', "{$prefix}x"), 'the list after the lease');
$redis->cmd('DEL', "{$prefix}x");

// The server is a replica.
$server = redis_private();
$lock = new DistributedLock($server->dsn());
same(true, $lock->lock('before', 0), 'lock() on a master');
$server->raw()->cmd('REPLICAOF', '127.0.0.1', closed_port());
refuses('a replica', $lock, "Redis at {$server->address()}: READONLY You can't write against a read only replica; it is a replica: locks are acquired on the master",
    'lock', 'acquire', 'tryAcquire', 'synchronized');
fails(Dlock\ConnectionException::class, "Redis at {$server->address()}: READONLY *", fn () => $lock->release('before'));
$readonly = "Redis at {$server->address()}: READONLY *; it is a replica: locks are acquired on the master";
fails(Dlock\ConnectionException::class, $readonly, fn () => (new Dlock\Semaphore(2, $server->dsn()))->acquire('x'));
fails(Dlock\ConnectionException::class, $readonly, fn () => (new Dlock\ReadWriteLock($server->dsn()))->readLock()->acquire('x'));
fails(Dlock\ConnectionException::class, $readonly, fn () => (new Dlock\Stock($server->dsn()))->restock('x', 1));
$server->raw()->cmd('REPLICAOF', 'NO', 'ONE');
same(true, $lock->lock('after', 0), 'lock() on a master again');

// The server is a Sentinel.
$sentinel = new ReplicatedRedis([], sentinel: true);
refuses('a Sentinel', new DistributedLock("redis://{$sentinel->address()}"),
    "Redis at {$sentinel->address()}: ERR unknown command*; if it is a Sentinel, use sentinel://host:port/service");

// The server has no memory left: no new lock is acquired, but held locks can be released.
same(true, $lock->lock('held', 0, 100), 'lock() before memory runs out');
$server->raw()->cmd('CONFIG', 'SET', 'maxmemory', 1);
refuses('no memory', $lock, "Redis at {$server->address()}: OOM command not allowed when used memory > 'maxmemory'; maxmemory is reached", 'lock', 'acquire', 'tryAcquire', 'synchronized');
same(true, $lock->isLocking('held'), 'isLocking() without memory');
same(true, $lock->expire('held', 50), 'expire() without memory');
same(true, $lock->release('held'), 'release() without memory');
$server->raw()->cmd('CONFIG', 'SET', 'maxmemory', 0);
same(true, $lock->lock('held', 0), 'lock() with memory');

// A script that does not end.
$server->raw()->cmd('CONFIG', 'SET', 'busy-reply-threshold', 20);
$slow = $server->raw();
$slow->send('EVAL', 'while true do end', 0);
wait_for(fn () => str_contains(thrown_by(fn () => $server->raw()->cmd('GET', 'x'))?->getMessage() ?? '', 'BUSY'), 60, 'the server to be busy');
refuses('a busy server', $lock, "Redis at {$server->address()}: BUSY * is busy running a script. *; a script has been running for too long there");
$server->raw()->cmd('SCRIPT', 'KILL');
wait_for(fn () => !thrown_by(fn () => $server->raw()->cmd('GET', 'x')), 60, 'the server not to be busy');
same(true, $lock->lock('idle', 0), 'lock() on a server that is not busy');
echo "done\n";
?>
--EXPECT--
done
