--TEST--
Connect and read timeouts are those of the DSN, the list, the array or the INI settings
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.connect_timeout=0.3
dlock.read_timeout=0.4
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\ConnectionException;

// The server is stopped: the kernel accepts connections, but the server does not answer.
$server = redis_private();
$port = $server->port;
$redis = $server->raw();

$connected = [];
$forms = [
    '0.4' => [$server->dsn(), ['127.0.0.1', $port], ['host' => '127.0.0.1', 'port' => $port, 'readTimeout' => 0]],
    '0.2' => [$server->dsn() . '?read_timeout=0.2', ['host' => '127.0.0.1', 'port' => $port, 'readTimeout' => 0.2]],
    '1' => [['host' => '127.0.0.1', 'port' => $port, 'readTimeout' => 1]],
];
foreach ($forms as $timeout => $specs) {
    foreach ($specs as $spec) {
        $lock = new DistributedLock($spec);
        $lock->acquire('connected')->release();
        $connected[] = [(string) $timeout, $lock, shown($spec)];
    }
}
$server->pause();
foreach ($connected as [$timeout, $lock, $what]) {
    $time = seconds(fn () => fails(ConnectionException::class, "Redis at 127.0.0.1:$port: no answer within $timeout s",
        fn () => $lock->acquire('x', ttl: 1000), $what));
    within((float) $timeout * 0.95, $time, SOON, "the time, $what");
}

// The queue of connections is full, so the next connection is not accepted.
$full = stream_socket_server('tcp://127.0.0.1:0', $code, $message, STREAM_SERVER_BIND | STREAM_SERVER_LISTEN,
    stream_context_create(['socket' => ['backlog' => 0]]));
[, $full_port] = explode(':', stream_socket_get_name($full, false));
$clients = [];
for ($i = 0; $i < 10; $i++) {
    $clients[] = stream_socket_client("tcp://127.0.0.1:$full_port", $code, $message, null, STREAM_CLIENT_ASYNC_CONNECT | STREAM_CLIENT_CONNECT);
}
$forms = [
    '0.3' => ["redis://127.0.0.1:$full_port", ['127.0.0.1', (int) $full_port]],
    '0.15' => ["redis://127.0.0.1:$full_port?connect_timeout=0.15", ['127.0.0.1', (int) $full_port, 0.15],
        ['host' => '127.0.0.1', 'port' => (int) $full_port, 'connectTimeout' => 0.15]],
];
foreach ($forms as $timeout => $specs) {
    foreach ($specs as $spec) {
        $time = seconds(fn () => fails(ConnectionException::class, "Redis at 127.0.0.1:$full_port: no connection within $timeout s",
            fn () => (new DistributedLock($spec))->acquire('x'), shown($spec)));
        within((float) $timeout * 0.95, $time, SOON, 'the time, ' . shown($spec));
    }
}

// The client clears up the unknown outcome: a late acquire does not stay.
$server->resume();
wait_until_gone($redis, 'Lock:x');
same(true, $connected[0][1]->lock('x', 0), 'lock() when the server answers again');
echo "done\n";
?>
--EXPECT--
done
