--TEST--
No dump, message, trace or warning shows a password, for each form of server
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
zend.exception_ignore_args=0
zend.exception_string_param_max_len=1000000
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

const SECRET = 'S3cr3t.of.all';
[$host, $port] = explode(':', test_env('DLOCK_TEST_REDIS_AUTH'));
$port = (int) $port;
$forms = [
    'DSN' => "redis://app:" . SECRET . "@$host:$port",
    'DSN without user' => 'redis://:' . SECRET . "@$host:$port/3",
    'DSN, encoded' => 'redis://app:' . implode('', array_map(fn ($c) => '%' . bin2hex($c), str_split(SECRET))) . "@$host:$port",
    'array' => ['host' => $host, 'port' => $port, 'auth' => SECRET],
    'array with user' => ['host' => $host, 'port' => $port, 'auth' => ['app', SECRET]],
    'array with keys' => ['host' => $host, 'port' => $port, 'auth' => ['user' => 'app', 'pass' => SECRET]],
];

function all_texts(mixed $value): string
{
    ob_start();
    var_dump($value);
    debug_zval_dump($value);
    print_r($value);
    if ($value instanceof Throwable) {
        echo $value, $value->getMessage(), $value->getTraceAsString();
        print_r($value->getTrace());
    }
    return ob_get_clean() . (thrown_by(fn () => var_export($value, true)) ? '' : var_export($value, true)) . print_r((array) $value, true)
        . (is_object($value) ? print_r(get_object_vars($value), true) . print_r(get_mangled_object_vars($value), true) : '') . json_encode($value);
}

class OwnLock extends DistributedLock
{
    public function __construct(#[SensitiveParameter] $server)
    {
        parent::__construct($server);
    }
}

foreach ($forms as $form => $server) {
    foreach ([new DistributedLock($server), new OwnLock($server), new RedLock([$server])] as $lock) {
        $name = $lock::class . ", $form";
        hides([SECRET], all_texts($lock), $name);
        // The server refuses the password.
        $e = thrown_by(fn () => $lock->tryAcquire(unique()));
        holds($e instanceof Dlock\ConnectionException, "$name: a ConnectionException", $e);
        holds(str_contains($e->getMessage(), "Redis at $host:$port: WRONGPASS"), "$name: the message", $e->getMessage());
        hides([SECRET], all_texts($e), "$name: the exception");
    }
}

// The passphrase of a key is a secret as well.
$lock = new DistributedLock('redis://h?local_pk=/k&passphrase=' . SECRET);
hides([SECRET], all_texts($lock), 'a passphrase');

foreach (['sentinel://app:' . SECRET . '@s1,s2/m?sentinel_password=' . SECRET, 'cluster://app:' . SECRET . '@h', 'redis://:' . SECRET . '@h?replicas=1',
    ['sentinels' => ['s1', 's2'], 'service' => 'm', 'auth' => SECRET, 'sentinelAuth' => ['app', SECRET]], ['cluster' => ['h'], 'auth' => ['app', SECRET]]] as $i => $server) {
    hides([SECRET], all_texts(new DistributedLock($server)), "a service, $i");
    hides([SECRET], all_texts(thrown_by(fn () => (new DistributedLock($server))->acquire('x', ttl: 3600.5))), "a call that is refused, $i");
}

// The constructor fails, for whatever reason.
$failures = [
    fn () => new DistributedLock('redis://app:' . SECRET . '@h:70000'),
    // Passwords of Redis behind Sentinels, and of the Sentinels.
    fn () => new DistributedLock('sentinel://app:' . SECRET . '@s'),
    fn () => new DistributedLock('sentinel://s/m?sentinel_user=x&sentinel_password=' . SECRET . '&replicas=9'),
    fn () => new DistributedLock('sentinel://app:1/' . SECRET . '@s/m'),
    fn () => new DistributedLock('sentinel://app:1/' . SECRET . '@s'),
    fn () => new DistributedLock('sentinel://app:1?' . SECRET . '=@s/m'),
    fn () => new DistributedLock('sentinel://s1,x:' . SECRET . '@s2/m', ttl: -1),
    fn () => new DistributedLock('sentinel://s/m?sentinel_password=' . SECRET, legacy: true),
    fn () => new DistributedLock('cluster://app:' . SECRET . '@h/3'),
    fn () => new DistributedLock('cluster://app:1/' . SECRET . '@h'),
    fn () => new DistributedLock('cluster://h?sentinel_password=' . SECRET),
    fn () => new DistributedLock(['sentinels' => ['s'], 'service' => 'm', 'sentinelAuth' => SECRET, 'guard' => 0]),
    fn () => new DistributedLock(['sentinels' => [':' . SECRET . '@s'], 'service' => 'm']),
    fn () => new DistributedLock(['sentinels' => [['host' => SECRET . '@s']], 'service' => 'm']),
    fn () => new DistributedLock(['cluster' => ['h', SECRET . ':x']]),
    fn () => new DistributedLock(['cluster' => 'cluster://:' . SECRET . '@h']),
    fn () => new RedLock(['redis://h', 'sentinel://:' . SECRET . '@s/m']),
    fn () => new RedLock([['cluster' => ['h'], 'auth' => SECRET]]),
    fn () => new RedLock(['redis://:' . SECRET . '@h?replicas=1']),
    fn () => new DistributedLock('redis://app:' . SECRET . '@h/x'),
    fn () => new DistributedLock('redis://app:' . SECRET . '@h?x=1'),
    fn () => new DistributedLock('redis://app:' . SECRET . '@'),
    fn () => new DistributedLock('redis://' . SECRET . '@h'),
    fn () => new DistributedLock(SECRET),
    fn () => new DistributedLock('http://:' . SECRET . '@h'),
    fn () => new DistributedLock('redis://:' . SECRET . '%@h'),
    fn () => new DistributedLock(['host' => 'h', 'auth' => [SECRET, '']]),
    fn () => new DistributedLock(['host' => 'h', 'auth' => SECRET, 'x' => SECRET]),
    fn () => new DistributedLock(['host' => 'redis://:' . SECRET . '@h']),
    fn () => new DistributedLock(server: 'redis://:' . SECRET . '@h', ttl: -1.0),
    fn () => new DistributedLock('redis://:' . SECRET . '@h', legacy: []),
    fn () => new OwnLock('redis://:' . SECRET . '@h:0'),
    // The passphrase of a key.
    fn () => new DistributedLock('redis://h:0?passphrase=' . SECRET),
    fn () => new DistributedLock('redis://h?passphrase=' . SECRET . '&passphrases=' . SECRET),
    fn () => new DistributedLock('redis://h?passphrase=' . SECRET . '%00'),
    fn () => new DistributedLock(['host' => 'h', 'ssl' => ['passphrase' => SECRET, 'x' => SECRET]]),
    fn () => new RedLock([['host' => 'h', 'ssl' => ['passphrase' => [SECRET]]]]),
    fn () => (new DistributedLock('redis://127.0.0.1:' . closed_port() . '?passphrase=' . SECRET))->tryAcquire('x'),
    fn () => new RedLock(['redis://h', 'redis://:' . SECRET . '@h:0']),
    fn () => new RedLock(['redis://:' . SECRET . '@h', 'redis://:' . SECRET . '@h']),
    fn () => new RedLock(servers: ['redis://:' . SECRET . '@h'], retryCount: 0),
    fn () => new RedLock([['host' => 'h', 'auth' => [5, SECRET]]]),
    fn () => new RedLock(array_fill(0, 65, 'redis://:' . SECRET . '@h')),
    fn () => (new DistributedLock('redis://h'))->__construct('redis://:' . SECRET . '@h'),
    // The password was not encoded, so the parser finds a wrong port or host.
    fn () => new DistributedLock('redis://app:1?' . SECRET . '=@h'),
    fn () => new DistributedLock('redis://app:1/' . SECRET . '@h'),
    fn () => new DistributedLock('redis://app:' . SECRET . '/x@h'),
    fn () => new DistributedLock('redis://app:' . SECRET . '?x@h'),
    // A host with credentials in it, which no form permits.
    fn () => (new DistributedLock(['host' => 'app:' . SECRET . "@$host", 'port' => $port]))->tryAcquire('x'),
    fn () => (new DistributedLock(['app:' . SECRET . "@$host", $port]))->tryAcquire('x'),
    fn () => (new DistributedLock(['unix://:' . SECRET . '@/run/redis.sock']))->tryAcquire('x'),
];
foreach ($failures as $i => $failure) {
    $e = thrown_by($failure);
    if ($e === null) {
        echo "failure $i does not fail\n";
        continue;
    }
    hides([SECRET], all_texts($e), "failure $i");
}

// Servers that are down.
$closed = closed_port();
foreach (['redis://app:' . SECRET . "@127.0.0.1:$closed", ['host' => '127.0.0.1', 'port' => $closed, 'auth' => SECRET], 'unix://:' . SECRET . '@/no/such.sock'] as $server) {
    hides([SECRET], all_texts(thrown_by(fn () => (new DistributedLock($server))->lock('x', 0))), 'a server that is not there');
    hides([SECRET], all_texts(thrown_by(fn () => (new RedLock([$server, 'redis://127.0.0.1:' . closed_port()]))->acquire('x'))), 'two servers that are not there');
}

// A server that does not know AUTH repeats what the client sent.
$ignorant = redis_private(['rename-command AUTH ""']);
foreach ([['app', SECRET], SECRET] as $auth) {
    $server = ['host' => '127.0.0.1', 'port' => $ignorant->port, 'auth' => $auth];
    $e = thrown_by(fn () => (new DistributedLock($server))->lock('x', 0));
    same(Dlock\ConnectionException::class, get_debug_type($e), 'without AUTH');
    hides([SECRET], all_texts($e), 'a server without AUTH');
}

// Warnings, and the leases and handles of a server with a password.
foreach (['redis://:' . SECRET . '@h:0', SECRET, 'redis://' . SECRET . '@h', 'sentinel://s/m?db=x&sentinel_password=' . SECRET, 'cluster://:' . SECRET . '@h/1'] as $bad) {
    same(false, @ini_set('dlock.server', $bad), 'ini_set()');
    hides([SECRET], error_get_last()['message'], 'the warning');
}
$password = redis_password();
$lock = new DistributedLock(redis_auth_server());
$lease = $lock->acquire(unique());
hides([$password], all_texts($lock) . all_texts($lease) . $lease->detach(), 'locks that are held');
$red = new RedLock([redis_auth_server()]);
hides([$password], all_texts($red->lock(unique())) . all_texts($red) . all_texts(Dlock\stats()), 'RedLock');

// The attribute keeps handles out of traces as well: a handle is as good as the lock.
$handle = 'dlock1.' . SECRET;
hides([SECRET], all_texts(thrown_by(fn () => $lock->attach($handle))), 'attach()');
hides([SECRET], all_texts(thrown_by(fn () => $red->attach($handle))), 'RedLock::attach()');
hides([SECRET], all_texts(thrown_by(fn () => $red->unlock(['resource' => 'x', 'token' => SECRET]))), 'RedLock::unlock()');
echo "done\n";
?>
--EXPECT--
done
