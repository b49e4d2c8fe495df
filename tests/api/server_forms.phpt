--TEST--
DSN, list and array name the same servers, with password, ACL user, database, Unix socket and timeouts
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

[$host, $port] = explode(':', redis_addresses()[0]);
$port = (int) $port;
$socket = redis_socket();
[$auth_host, $auth_port] = explode(':', test_env('DLOCK_TEST_REDIS_AUTH'));
$auth_port = (int) $auth_port;
$default = redis_password('default');
$app = redis_password('app');

$plain = fn () => redis_raw(0);
$plain3 = function () {
    $redis = redis_raw(0);
    $redis->cmd('SELECT', 3);
    return $redis;
};
$unix = fn () => new RedisRaw("unix://$socket");
$unix2 = function () use ($socket) {
    $redis = new RedisRaw("unix://$socket");
    $redis->cmd('SELECT', 2);
    return $redis;
};
$auth = fn () => new RedisRaw("$auth_host:$auth_port", $default);
$auth4 = function () use ($auth) {
    $redis = $auth();
    $redis->cmd('SELECT', 4);
    return $redis;
};
$encoded = implode('', array_map(fn ($c) => '%' . bin2hex($c), str_split($app)));

$forms = [
    // DSN
    [$plain, "redis://$host:$port"],
    [$plain, "REDIS://$host:$port/"],
    [$plain, "redis://$host:$port/0"],
    [$plain3, "redis://$host:$port/3"],
    [$plain3, "redis://$host:$port?db=3"],
    [$plain3, "redis://$host:$port/?database=3"],
    [$plain, "redis://$host:$port?connect_timeout=0.5&read_timeout=20"],
    [$plain3, "redis://$host:$port/3?connect_timeout=5&read_timeout=.5"],
    [$plain, 'redis://%6c%6F' . "calhost:$port"],
    [$auth, "redis://:$default@$auth_host:$auth_port"],
    [$auth, "redis://default:$default@$auth_host:$auth_port"],
    [$auth, "redis://app:$app@$auth_host:$auth_port"],
    [$auth, "redis://app:$encoded@$auth_host:$auth_port"],
    [$auth4, "redis://app:$app@$auth_host:$auth_port/4"],
    [$unix, "unix://$socket"],
    [$unix2, "unix://$socket?db=2"],
    [$unix2, "unix://$socket?db=2&read_timeout=2"],
    // the list [host, port, connect timeout]
    [$plain, [$host, $port]],
    [$plain, [$host, $port, 0.5]],
    [$plain, [$host, $port, 2]],
    [$plain, [$host, $port, 0]],
    [$plain, ["tcp://$host", $port]],
    [$unix, [$socket]],
    [$unix, [$socket, 0]],
    [$unix, [$socket, -1, 0.5]],
    [$unix, ["unix://$socket"]],
    // phpredis' constructor array
    [$plain, ['host' => $host, 'port' => $port]],
    [$plain, ['port' => $port, 'host' => $host, 'connectTimeout' => 0.5, 'readTimeout' => 2, 'database' => 0]],
    [$plain3, ['host' => $host, 'port' => $port, 'database' => 3]],
    // values as strings, as from the environment
    [$plain, [$host, (string) $port, '0.5']],
    [$plain3, ['host' => $host, 'port' => (string) $port, 'database' => '3', 'connectTimeout' => '1', 'readTimeout' => '0.5']],
    [$plain, ['host' => $host, 'port' => $port, 'auth' => null, 'ssl' => null, 'connectTimeout' => 0]],
    [$plain, ['host' => $host, 'port' => $port, 'persistent' => true, 'retryInterval' => 100, 'backoff' => ['algorithm' => 1], 'ssl' => false]],
    [$auth, ['host' => $auth_host, 'port' => $auth_port, 'auth' => $default]],
    [$auth, ['host' => $auth_host, 'port' => $auth_port, 'auth' => [$default]]],
    [$auth, ['host' => $auth_host, 'port' => $auth_port, 'auth' => ['app', $app]]],
    [$auth, ['host' => $auth_host, 'port' => $auth_port, 'auth' => ['user' => 'app', 'pass' => $app]]],
    [$auth, ['host' => $auth_host, 'port' => $auth_port, 'auth' => ['pass' => $default]]],
    [$auth, ['host' => $auth_host, 'port' => $auth_port, 'auth' => [null, $default]]],
    [$auth4, ['host' => $auth_host, 'port' => $auth_port, 'auth' => ['app', $app], 'database' => 4]],
    [$unix, ['host' => $socket]],
    [$unix, ['host' => $socket, 'port' => -1]],
    [$unix2, ['host' => "unix://$socket", 'database' => 2]],
];
foreach ($forms as $i => [$raw, $server]) {
    $shown = shown($server);
    try {
        $lock = new DistributedLock($server);
        $key = unique((string) $i);
        same(true, $lock->lock($key, 0, 100), "lock() on $shown");
        same(1, $raw()->cmd('EXISTS', "Lock:$key"), "the key of $shown");
        same(true, $lock->release($key), "release() on $shown");
    } catch (Throwable $e) {
        echo "$shown: ", $e::class, ': ', $e->getMessage(), "\n";
    }
    // RedLock accepts the same forms.
    try {
        $red = new RedLock([$server]);
        $held = $red->lock($key, 100_000);
        same(1, $raw()->cmd('EXISTS', $key), "RedLock: the key of $shown");
        same(true, $red->unlock($held), "RedLock: unlock() on $shown");
    } catch (Throwable $e) {
        echo "RedLock, $shown: ", $e::class, ': ', $e->getMessage(), "\n";
    }
}

// References, as foreach leaves them behind, mean what they refer to.
$parts = ['host' => $auth_host, 'port' => $auth_port, 'auth' => ['app', $app], 'database' => 0];
foreach ($parts as &$part) {
}
foreach ($parts['auth'] as &$secret) {
}
try {
    same(true, (new DistributedLock($parts))->lock(unique('reference'), 0), 'references in the array');
} catch (Throwable $e) {
    echo 'references in the array: ', $e::class, ': ', $e->getMessage(), "\n";
}
$list = [$host, $port];
foreach ($list as &$element) {
}
$servers = [$list];
foreach ($servers as &$server) {
}
same(true, (new DistributedLock($list))->lock(unique('reference'), 0), 'references in the list');
same(true, is_array((new RedLock($servers))->lock(unique('reference'))), 'references in the list of servers');

// The constructor reads the array, and neither changes nor keeps it.
$spec = ['host' => $host, 'port' => $port];
$copy = $spec;
new DistributedLock($spec);
same($copy, $spec, 'the array after the constructor');

// A host by its name, and a name that is unknown.
same(true, (new DistributedLock(['localhost', $port]))->lock(unique('localhost'), 0), 'localhost');
fails(Dlock\ConnectionException::class, 'Redis at no-such-host.invalid:6379: *', fn () => (new DistributedLock('redis://no-such-host.invalid'))->lock('x', 0));
fails(Dlock\ConnectionException::class, 'Redis at /no/such.sock: No such file or directory', fn () => (new DistributedLock('unix:///no/such.sock'))->lock('x', 0));
$closed = closed_port();
fails(Dlock\ConnectionException::class, "Redis at [::1]:$closed: *", fn () => (new DistributedLock("redis://[::1]:$closed"))->lock('x', 0));
fails(Dlock\ConnectionException::class, "Redis at 127.0.0.1:$closed: Connection refused", fn () => (new DistributedLock(['127.0.0.1', $closed]))->lock('x', 0));
echo "done\n";
?>
--EXPECT--
done
