--TEST--
TLS: which certificates are trusted, by which name, client certificates; renewal, handover and many leases over TLS
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_tls();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/tls.inc';

$files = new TlsFiles();
$server = new TlsRedis($files, config: ['requirepass secret-of-tls']);
$raw = new RedisRaw($server->redis->address(), 'secret-of-tls');
$dsn = fn (array $options = [], string $host = 'localhost') => $server->dsn($options, $host, ':secret-of-tls@');

$works = function (string $what, string|array $spec) use ($raw) {
    $resource = unique($what);
    $lease = (new DistributedLock($spec))->acquire($resource, 0);
    same($lease->token, $raw->cmd('GET', "Lock:$resource"), "$what: the lock on the server");
    same(true, $lease->release(), "$what: release()");
};
$refused = function (string $what, string $message, string|array $spec) use ($raw) {
    $resource = unique($what);
    $e = thrown_by(fn () => (new DistributedLock($spec))->acquire($resource, 0));
    holds($e instanceof Dlock\ConnectionException, "$what: refused", $e);
    holds(preg_match("/$message/", (string) $e?->getMessage()) === 1, "$what: the message", $e?->getMessage());
    hides(['secret-of-tls'], (string) $e, $what);
    same(0, $raw->cmd('EXISTS', "Lock:$resource"), "$what: no lock on the server");
};

// ---- which servers are trusted ----
$works('the right authority', $dsn());
$works('an array', ['host' => 'localhost', 'port' => $server->port, 'auth' => 'secret-of-tls', 'ssl' => ['cafile' => "$files->dir/ca.crt"]]);
$refused('another authority', 'certificate', $dsn(['cafile' => "$files->dir/other.crt"]));
$refused('the system\'s authorities', 'certificate', "rediss://:secret-of-tls@localhost:$server->port");
$refused('no such file', 'cafile or capath cannot be read', $dsn(['cafile' => "$files->dir/none.crt"]));
$refused('another name', 'mismatch', $dsn(host: '127.0.0.1'));
$works('peer_name', $dsn(['peer_name' => 'localhost'], '127.0.0.1'));
$refused('another peer_name', 'mismatch', $dsn(['peer_name' => 'elsewhere.invalid']));
$works('a name of a pattern', $dsn(['peer_name' => 'redis.whole.test']));
$refused('two levels of a pattern', 'mismatch', $dsn(['peer_name' => 'a.redis.whole.test']));
$refused('a part of a name', 'mismatch', $dsn(['peer_name' => 'party.of.test']));
$works('no look at the name', $dsn(['verify_peer_name' => 0], '127.0.0.1'));
$refused('no look at the name, another authority', 'certificate', $dsn(['verify_peer_name' => 0, 'cafile' => "$files->dir/other.crt"], '127.0.0.1'));
$works('no verification', $dsn(['verify_peer' => 0, 'cafile' => "$files->dir/other.crt"], '127.0.0.1'));
$refused('TLS is asked for no TLS', 'Connection reset|closed the connection', "redis://:secret-of-tls@localhost:$server->port");
foreach (['a DSN' => fn (string $host, TlsRedis $of) => $of->dsn(host: $host),
    'an array' => fn (string $host, TlsRedis $of) => ['host' => "tls://$host", 'port' => $of->port, 'ssl' => ['cafile' => "$files->dir/ca.crt"]]] as $form => $spec) {
    $by_address ??= new TlsRedis($files, config: ['bind 127.0.0.1 127.0.0.2'], certificate: 'address');
    $by_expired ??= new TlsRedis($files, certificate: 'expired');
    $refused("$form, a name, a certificate for an address", 'mismatch', $spec('localhost', $by_address));
    $refused("$form, another address", 'mismatch', $spec('127.0.0.2', $by_address));
    same(null, thrown_by(fn () => (new DistributedLock($spec('127.0.0.1', $by_address)))->acquire(unique(), 0)), "$form, the address");
    wait_for(fn () => thrown_by(fn () => (new DistributedLock($spec('localhost', $by_expired)))->acquire(unique(), 0)), 60, 'the certificate to expire');
    $refused("$form, expired", 'certificate has expired', $spec('localhost', $by_expired));
    $refused("$form, expired, by its address", 'certificate has expired', $spec('127.0.0.1', $by_expired));
}
$refused('a server without TLS', 'no TLS within 0\.5 s', 'rediss://:secret-of-tls@' . $server->redis->address() . '?connect_timeout=0.5');
$refused('a server without TLS, no password', 'no TLS within 0\.5 s', 'rediss://' . $server->redis->address() . '?connect_timeout=0.5');
$raw->cmd('CONFIG', 'SET', 'tls-protocols', 'TLSv1.1');
$refused('a server with old TLS only', 'TLS: .*protocol version', $dsn(['read_timeout' => 9]));
$raw->cmd('CONFIG', 'SET', 'tls-protocols', '');

// ---- replies of more than one record ----
foreach ([16_383, 16_384, 16_385, 100_000, 1_000_000] as $size) {
    $raw->cmd('SET', 'Lock:' . ($resource = unique("$size bytes")), str_repeat('x', $size));
    same(true, (new DistributedLock($dsn(['read_timeout' => 20])))->isLocked($resource), "a reply of $size bytes");
    $raw->cmd('DEL', "Lock:$resource");
}

// ---- which clients the server accepts ----
// (The client would use earlier connections again.)
$raw->cmd('CONFIG', 'SET', 'tls-auth-clients', 'yes');
$raw->cmd('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
// The server's alert may be lost with the connection, if the server has not read all that the client sent.
$refused('no certificate of the client\'s', 'TLS: .*certificate required|Connection reset', $dsn());
$works('a certificate of the client\'s', $dsn(['local_cert' => "$files->dir/client.crt", 'local_pk' => "$files->dir/client.key"]));
$refused('a key of another\'s', 'local_pk', $dsn(['local_cert' => "$files->dir/client.crt", 'local_pk' => "$files->dir/server.key"]));
// OpenSSL would ask for a missing passphrase, at the terminal or by PHP's standard input, and wait while that is open.
$encrypted = ['local_cert' => "$files->dir/client.crt", 'local_pk' => "$files->dir/client.encrypted.key"];
$works('an encrypted key', $dsn($encrypted + ['passphrase' => TlsFiles::PASSPHRASE]));
$works('an encrypted key, in an array', ['host' => 'localhost', 'port' => $server->port, 'auth' => 'secret-of-tls',
    'ssl' => $encrypted + ['cafile' => "$files->dir/ca.crt", 'passphrase' => TlsFiles::PASSPHRASE]]);
$refused('an encrypted key without its passphrase', 'TLS: local_pk is encrypted: give its passphrase, or a key that is not encrypted$', $dsn($encrypted));
$wrong = 'Wrong.passphrase';
$refused('an encrypted key with a wrong passphrase', 'TLS: local_pk cannot be decrypted by the passphrase', $dsn($encrypted + ['passphrase' => $wrong]));
$lock = new DistributedLock($dsn($encrypted + ['passphrase' => $wrong]));
$e = thrown_by(fn () => $lock->acquire(unique(), 0));
hides([$wrong], print_r($lock, true) . var_export((array) $lock, true) . $e . print_r($e, true), 'a passphrase');
$child = php_child('
    [, $dsn] = $argv;
    echo is_resource(STDIN) ? "begun\n" : "";
    try {
        $lease = (new DistributedLock($dsn))->acquire("encrypted", 0);
    } catch (Dlock\ConnectionException $e) {
        echo $e->getMessage(), "\n";
    }
', [$dsn($encrypted)]);
same('begun', $child->readLine(), 'a child whose standard input is open');
holds(str_contains((string) $child->readLine(), 'local_pk is encrypted'), 'asks nobody for the passphrase', null);
$child->closeInput();
$child->wait();
$refused('no such certificate', 'local_cert', $dsn(['local_cert' => "$files->dir/none.crt"]));

// ---- locks over TLS, observed through the plain ports ----
$servers = array_map(fn () => new TlsRedis($files), range(1, 3));
$addresses = array_map(fn ($server) => $server->redis->address(), $servers);
$dsns = array_map(fn ($server) => $server->dsn(), $servers);
$ttl = 6.0;
$seconds = 6.0;
foreach (['DistributedLock' => 1, 'RedLock' => 3] as $name => $count) {
    $locks = new Locks($name, array_slice($addresses, 0, $count));
    $manager = fn (mixed ...$options) => $name === 'DistributedLock' ? new DistributedLock($dsns[0], ...$options)
        : new RedLock($dsns, ...['prefix' => 'Lock:', ...$options]);

    $renewals = Dlock\stats()['renewals'];
    $lease = ($kept = $manager(ttl: $ttl))->acquire($resource = unique("$name-kept"), 0);
    $many = [];
    $others = $manager(ttl: 12.0); // renewed once: this does not test the machine's speed
    for ($i = 0; $i < 500; $i++) {
        $many[] = $others->acquire("$resource-$i", 0);
    }
    $values = all_values_of($locks, $resource);
    $until = now() + $seconds;
    while (now() < $until) {
        same($values, values_of($locks, $resource), "$name: the value of a lease that is kept");
        $left = times_of($locks, $resource);
        holds(min($left) > 0 && max($left) <= $ttl * 1000, "$name: the time of a lease that is kept", $left);
        if (min($left) <= 0) {
            break;
        }
        nap(0.05);
    }
    same([], array_keys(array_filter([$lease, ...$many], fn ($lease) => !$lease->isHeld())), "$name: leases lost");
    $least = (int) ($seconds / ($ttl / 3) / 2) + count($many); // half of the renewals that are due for the first
    wait_for(fn () => Dlock\stats()['renewals'] - $renewals >= $least, 60, "$name: renewals");
    same([true], array_values(array_unique(array_map(fn ($lease) => $lease->release(), [$lease, ...$many]))), "$name: release()");

    $resource = unique("$name-handed-over");
    $lease = $manager()->acquire($resource, 0);
    $child = fork_child(fn (callable $say, callable $hear) => $manager()->synchronized($resource, fn ($lease) => $lease->fencingToken, 30));
    $locks->waitUntilQueued($resource, 1);
    same(true, $lease->release(), "$name: release() to a waiter");
    holds($child->result() > $lease->fencingToken, "$name: the waiter's token");
}
// ---- a child has a copy of the connection, and sends nothing over it, not even at its end ----
$lock = new DistributedLock($dsns[0]);
$lock->acquire(unique('before the fork'), 0)->release();
$before = Dlock\stats()['reconnections'];
fork_child(fn () => $lock->acquire(unique('in the child'), 0)->release())->result();
$lock->acquire(unique('after the fork'), 0)->release();
same($before, Dlock\stats()['reconnections'], 'connections given up for another, after a child has ended');
echo "done\n";
?>
--EXPECT--
done
