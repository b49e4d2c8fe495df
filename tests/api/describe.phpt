--TEST--
Dlock\describe_server() and Dlock\describe_ensemble(): what dlock-doctor is told of a specification, in each of its forms
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--INI--
dlock.connect_timeout=0.4
dlock.read_timeout=1.5
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use function Dlock\{describe_ensemble, describe_server};

/** What is told where a specification has nothing but the host. */
const DEFAULTS = ['backend' => 'redis', 'label' => 'redis1:6379', 'host' => 'redis1', 'port' => 6379, 'path' => null, 'database' => 0,
    'user' => null, 'password' => null, 'connect_timeout' => 0.4, 'read_timeout' => 1.5, 'tls' => null];
$tells = fn (array $expected, string|array $spec) => same(array_replace(DEFAULTS, $expected), describe_server($spec), json_encode($spec));

$tells([], 'redis://redis1');
$tells([], ['host' => 'REDIS1']);
$tells([], ['redis1']);
$tells(['label' => '[::1]:7000', 'host' => '::1', 'port' => 7000], 'redis://[::1]:7000');
$tells(['user' => 'a:b', 'password' => 'c@d/e', 'database' => 3, 'connect_timeout' => 2.5, 'read_timeout' => 0.25],
    'redis://a%3Ab:c@d%2Fe@redis1/3?connect_timeout=2.5&read_timeout=0.25');
$tells(['user' => 'u', 'password' => 'p', 'database' => 2, 'connect_timeout' => 3.0, 'read_timeout' => 4.0],
    ['host' => 'redis1', 'auth' => ['user' => 'u', 'pass' => 'p'], 'database' => 2, 'connectTimeout' => 3, 'readTimeout' => 4]);
$tells(['label' => '/run/redis.sock', 'host' => null, 'path' => '/run/redis.sock', 'database' => 1], 'unix:///run/redis.sock?db=1');
$tells(['label' => '/run/redis.sock', 'host' => null, 'path' => '/run/redis.sock'], ['/run/redis.sock', 0]);
$tells(['backend' => 'memcached', 'label' => 'redis1:11211', 'port' => 11211, 'read_timeout' => 0.25], 'memcached://redis1?read_timeout=0.25');
$tells(['backend' => 'memcached', 'label' => 'redis1:11212', 'port' => 11212], ['scheme' => 'memcached', 'host' => 'redis1', 'port' => 11212]);
$tells(['backend' => 'memcached', 'label' => '/run/m.sock', 'host' => null, 'port' => 11211, 'path' => '/run/m.sock'], 'memcached:///run/m.sock');
$tells(['backend' => 'memory', 'label' => 'memory://a', 'host' => 'a', 'port' => 0], 'memory://a');

// TLS: the names are those of PHP's streams.
if (!str_contains((string) thrown_by(fn () => describe_server('rediss://redis1')), 'has no TLS')) {
    $tells(['tls' => ['verify_peer' => true, 'verify_peer_name' => true, 'peer_name' => 'redis1']], 'rediss://redis1');
    $tells(['tls' => ['verify_peer' => false, 'verify_peer_name' => true, 'peer_name' => 'x', 'cafile' => '/ca', 'local_cert' => '/cert', 'local_pk' => '/key',
        'passphrase' => 'secret']], ['host' => 'tls://redis1', 'ssl' => ['verify_peer' => false, 'peer_name' => 'x', 'cafile' => '/ca', 'local_cert' => '/cert',
        'local_pk' => '/key', 'passphrase' => 'secret']]);
}

// The members of an ensemble.
$member = fn (string $label, string $host, int $port) => ['backend' => 'zookeeper', 'label' => $label, 'host' => $host, 'port' => $port];
same([$member('zk1:2181', 'zk1', 2181), $member('[::1]:2182', '::1', 2182), $member('zk3:2181', 'zk3', 2181)], describe_ensemble('zk1,[::1]:2182,zk3:2181/a/b'), 'a list');
same([$member('zk1:2183', 'zk1', 2183)], describe_ensemble(['host' => 'zk1', 'port' => 2183]), 'an array');

// What cannot be right is refused as the classes do; no trace has the password.
fails(ValueError::class, 'Dlock\describe_server(): Argument #1 ($server) must have a password after the user*', fn () => describe_server('redis://u@redis1'));
fails(ValueError::class, 'Dlock\describe_ensemble(): Argument #1 ($servers) must put IPv6 addresses in brackets*', fn () => describe_ensemble('::1'));
fails(TypeError::class, 'Dlock\describe_ensemble(): Argument #1 ($servers) must have a string as host*', fn () => describe_ensemble([]));
if (PHP_VERSION_ID >= 80200) {
    foreach ([fn () => describe_server('x://u:secret@redis1'), fn () => describe_ensemble('u:secret@zk1')] as $i => $describe) {
        holds(!str_contains((string) thrown_by($describe), 'secret'), "function $i: no password in a trace");
    }
}
echo "done\n";
?>
--EXPECT--
done
