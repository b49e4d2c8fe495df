--TEST--
memcached: the forms of a server, what is refused, and dlock.server
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\ConnectionException;

$server = new PrivateMemcached();
$raw = $server->raw();

// ---- forms ----
$forms = [
    'a DSN' => $server->dsn(),
    'a DSN in capitals' => "MEMCACHED://127.0.0.1:$server->port",
    'a DSN with a name' => "memcached://localhost:$server->port",
    'a DSN with timeouts' => $server->dsn('?connect_timeout=21&read_timeout=22'),
    'a DSN with a slash' => $server->dsn('/'),
    'an array' => ['scheme' => 'memcached', 'host' => '127.0.0.1', 'port' => $server->port],
    'an array with timeouts' => ['host' => '127.0.0.1', 'port' => $server->port, 'connectTimeout' => 20, 'readTimeout' => 21.5, 'scheme' => 'memcached'],
];
foreach ($forms as $form => $spec) {
    $lock = new DistributedLock($spec);
    same([true, true, true], [$lock->lock($form, 0), $lock->isLocked($form), (new DistributedLock($server->dsn()))->isLocked($form)], $form);
    same(true, $lock->release($form), "$form: release()");
}
$socket = new SocketMemcached();
foreach (['a DSN' => "memcached://{$socket->path()}", 'an array' => ['scheme' => 'memcached', 'host' => $socket->path()]] as $form => $spec) {
    $lock = new DistributedLock($spec);
    $lease = $lock->acquire('r', 0, 100);
    same($lease->token, (new MemcachedRaw('unix://' . $socket->path()))->get('Lock:r'), "$form with a socket: the key");
    same(true, $lease->release(), "$form with a socket: release()");
}
$socket->kill();
fails(ConnectionException::class, "memcached at {$socket->path()}: *", fn () => $lock->acquire('r', 0), 'a socket that nobody listens on');

// The default port is memcached's own.
ob_start();
var_dump(new DistributedLock('memcached://127.0.0.1'), new DistributedLock(['scheme' => 'memcached', 'host' => 'h']));
$dump = ob_get_clean();
holds(str_contains($dump, '"127.0.0.1:11211"') && str_contains($dump, '"h:11211"'), 'the default port', $dump);

// ---- what is refused ----
$only = 'DistributedLock::__construct(): Argument #1 ($server) must have no *, since dlock speaks memcached\'s text protocol, which has none';
foreach (['memcached://user:secret@h', 'memcached://:secret@h', 'memcached://h/1', 'memcached://h?db=1'] as $dsn) {
    fails(ValueError::class, $only, fn () => new DistributedLock($dsn), $dsn);
}
foreach ([['auth' => 'secret'], ['database' => 1], ['ssl' => true], ['ssl' => ['cafile' => '/ca']], ['replicas' => 1]] as $more) {
    fails(ValueError::class, $only, fn () => new DistributedLock(['scheme' => 'memcached', 'host' => 'h'] + $more), array_key_first($more));
}
$prefix = 'DistributedLock::__construct(): Argument #1 ($server) ';
fails(ValueError::class, $prefix . 'must name a host', fn () => new DistributedLock('memcached://'));
fails(ValueError::class, $prefix . 'must have a port*', fn () => new DistributedLock('memcached://h:0'));
fails(ValueError::class, $prefix . '*unknown option*', fn () => new DistributedLock('memcached://h?weight=1'));
fails(ValueError::class, $prefix . 'must have a scheme that is redis, rediss, unix, memcached, memory, pgsql or mysql', fn () => new DistributedLock(['scheme' => 'memcache', 'host' => 'h']));
fails(TypeError::class, $prefix . 'must have a string as scheme, int given', fn () => new DistributedLock(['scheme' => 1, 'host' => 'h']));
fails(ValueError::class, 'DistributedLock::__construct(): Argument #8 ($legacy) must be false: only Redis has locks of other code to share', fn () => new DistributedLock($server->dsn(), legacy: true));
foreach ([[$server->dsn()], [redis_server(0), redis_server(1), $server->dsn()], [['scheme' => 'memcached', 'host' => 'h']]] as $servers) {
    fails(ValueError::class, 'RedLock::__construct(): Argument #1 ($servers) must name Redis servers, but element ' . count($servers) - 1 . ' is a memcached: *',
        fn () => new RedLock($servers));
}

// ---- lease times ----
$lock = new DistributedLock($server->dsn());
$bounds = 'must be between 4.000 and 2592000 seconds';
foreach ([3.999, 0, -1, 0.003, 2592000.5, 3e7, NAN, INF] as $ttl) {
    fails(ValueError::class, "DistributedLock::__construct(): Argument #3 (\$ttl) $bounds", fn () => new DistributedLock($server->dsn(), ttl: $ttl), "the constructor, $ttl s");
    fails(ValueError::class, "DistributedLock::lock(): Argument #3 (\$expire) $bounds", fn () => $lock->lock('r', 0, $ttl), "lock(), $ttl s");
    foreach (['acquire', 'tryAcquire'] as $call) {
        fails(ValueError::class, "DistributedLock::$call(): Argument #3 (\$ttl) $bounds", fn () => $lock->$call('r', 0, $ttl), "$call(), $ttl s");
    }
    fails(ValueError::class, "DistributedLock::synchronized(): Argument #4 (\$ttl) $bounds", fn () => $lock->synchronized('r', fn () => print("no\n"), 0, $ttl), "synchronized(), $ttl s");
}
$lease = $lock->acquire('r', 0);
fails(ValueError::class, "Dlock\Lease::refresh(): Argument #1 (\$ttl) $bounds", fn () => $lease->refresh(3.9));
same(true, $lease->release(), 'after a refresh() that was refused');
$lock->lock('r', 0);
fails(ValueError::class, "DistributedLock::expire(): Argument #2 (\$expire) $bounds", fn () => $lock->expire('r', 1));
same(true, $lock->release('r'), 'after an expire() that was refused');
foreach ([4, 4.5, 2592000] as $ttl) {
    $lease = $lock->acquire('r', 60, $ttl);
    within($ttl > 10 ? 2000000 : 0, $raw->left('Lock:r') ?? 0, $ttl + 1, "$ttl s"); // a short one may be over
    $lease->release();
}
ini_set('dlock.ttl', '3');
fails(ValueError::class, 'dlock.ttl must be between 4 and 2592000 seconds on this server; or give a $ttl', fn () => new DistributedLock($server->dsn()), 'dlock.ttl of 3 s');
ini_restore('dlock.ttl');

// ---- dlock.server ----
$child = php_child('
    $lock = new DistributedLock();
    var_dump($lock->lock("ini", 0));
    fgets(STDIN);
', [], '-d ' . escapeshellarg("dlock.server=\"{$server->dsn()}\""));
same('bool(true)', $child->readLine(), 'lock() by dlock.server');
holds($raw->get('Lock:ini') !== null, 'its key');
same(0, $child->wait(), 'its end');
same(null, $raw->get('Lock:ini'), 'its key after its end');
ini_set('dlock.server', $server->dsn());
same(true, (new DistributedLock())->lock('ini', 0), 'lock() by dlock.server, set in the script');

// ---- an old server, and a server that is not memcached ----
foreach (["VERSION 1.5.22\r\n" => 'its version 1.5.22 has no meta commands; memcached 1.6 or later is needed',
    "-ERR unknown command\r\n" => '*', "VERSION ?\r\n" => 'its answer to "version" is not memcached\'s'] as $answer => $message) {
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $address = stream_socket_get_name($listener, false);
    $old = fork_child(function () use ($listener, $answer) {
        while ($stream = @stream_socket_accept($listener, 30)) {
            fgets($stream);
            fwrite($stream, $answer);
            fgets($stream);
            fclose($stream);
        }
    });
    at_end($old->kill(...));
    fails(ConnectionException::class, "memcached at $address: $message", fn () => (new DistributedLock("memcached://$address"))->acquire('r', 0), trim($answer));
    $old->kill();
}
$redis = redis_addresses()[0];
fails(ConnectionException::class, "memcached at $redis: *", fn () => (new DistributedLock("memcached://$redis"))->acquire('r', 0), 'a Redis server');
$without = new PrivateMemcached(['-C']);
fails(ConnectionException::class, "memcached at {$without->address()} gives no CAS*", fn () => (new DistributedLock($without->dsn()))->acquire('r', 0), 'a server without CAS');
echo "done\n";
?>
--EXPECT--
done
