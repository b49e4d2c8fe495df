--TEST--
The constructor uses INI dlock.server and the other settings for arguments that it is not given
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$on = fn (int $server, string $key) => redis_raw($server)->cmd('EXISTS', "Lock:$key");

// Set in the script.
ini_set('dlock.server', redis_server(1));
$key = unique();
$first = new DistributedLock();
$first->lock($key, 0);
same([0, 1], [$on(0, $key), $on(1, $key)], 'the key on server 0 and 1');

// Objects keep the settings with which they were made.
ini_set('dlock.server', redis_server(0));
$second = new DistributedLock(null, ttl: 100);
$second->lock("$key-2", 0);
$first->lock("$key-3", 0);
same([1, 0, 0, 1], [$on(0, "$key-2"), $on(1, "$key-2"), $on(0, "$key-3"), $on(1, "$key-3")], 'the keys on server 0 and 1');

// The constructor's argument has precedence.
$third = new DistributedLock(redis_server(2));
$third->lock("$key-4", 0);
same([0, 1], [$on(0, "$key-4"), $on(2, "$key-4")], 'the key on server 0 and 2');

// Set on the command line, with user, password and database.
$child = php_child('
    $lock = new DistributedLock();
    var_dump($lock->lock($argv[1], 0));
    fgets(STDIN);
', [$key], '-d ' . escapeshellarg('dlock.server="' . redis_auth_server() . '/5"'));
same('bool(true)', $child->readLine(), 'lock() in another process');
$redis = new RedisRaw(test_env('DLOCK_TEST_REDIS_AUTH'), redis_password(), 'app');
$redis->cmd('SELECT', 5);
same(1, $redis->cmd('EXISTS', "Lock:$key"), 'its key');
same(0, $child->wait(), 'its end');

// A wrong setting in php.ini or a pool's file must not become the default, where other processes may lock other things:
// its warning may go unseen.
foreach (['10.0.0.5:6379' => 'redis://', '' => 'must not be empty', 'redis://h?conect_timeout=1' => 'unknown option', 'redis://h/x' => 'database'] as $wrong => $word) {
    $child = php_child('
        try {
            new DistributedLock();
        } catch (ValueError $e) {
            echo $e->getMessage(), "\n";
        }
        echo (new DistributedLock($argv[1]))->lock($argv[2], 0) ? "locked" : "not locked", "\n";
    ', [redis_server(), unique("wrong-$word")], '-d display_startup_errors=0 -d log_errors=0 -d error_log=/dev/null -d ' . escapeshellarg("dlock.server=\"$wrong\""));
    $said = $child->readAll();
    holds((bool) preg_match('~^dlock\.server .*' . preg_quote($word) . '.*\nlocked\n$~', $said), "dlock.server=$wrong", $said);
    same(0, $child->wait(), "dlock.server=$wrong: its end");
}

// A server without timeouts has those of the INI settings.
$server = redis_private();
ini_set('dlock.read_timeout', '2');
$lock = new DistributedLock($server->dsn());
ini_set('dlock.read_timeout', '1');
$short = new DistributedLock($server->dsn());
$short->acquire('x')->release();
$server->pause();
fails(Dlock\ConnectionException::class, '*: no answer within 1 s', fn () => $short->acquire('x'));
fails(Dlock\ConnectionException::class, '*: no answer within 2 s', fn () => $lock->acquire('x'), 'made before');
$server->resume();

ini_set('dlock.ttl', '200');
$lock = new DistributedLock(redis_server());
ini_set('dlock.ttl', '300');
within(150, $lock->acquire(unique('ttl'))->remaining(), 198, 'the ttl when the object was made');
within(250, (new RedLock(redis_servers(3)))->acquire(unique('ttl'))->remaining(), 297, 'the ttl for RedLock');
within(0.001, (new RedLock(redis_servers(3)))->lock(unique('ttl'))['validity'] / 1000, 9.9, 'RedLock::lock() has a default of its own');
echo "done\n";
?>
--EXPECT--
done
