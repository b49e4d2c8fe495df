--TEST--
Dlock\describe_server() and Dlock\describe_ensemble() tell dlock-doctor what each form of a specification means
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

/** The description of a specification that has only a host. */
const DEFAULTS = ['backend' => 'redis', 'label' => 'redis1:6379', 'host' => 'redis1', 'port' => 6379, 'path' => null, 'database' => 0,
    'user' => null, 'password' => null, 'connect_timeout' => 0.4, 'read_timeout' => 1.5, 'tls' => null,
    'discovery' => 'fixed', 'seeds' => [], 'service' => null, 'sentinel' => null, 'replicas' => 0, 'nodes' => null, 'guard' => null, 'resync_guard' => null];
/** The order of keys does not matter. */
function sorted(array $says): array
{
    ksort($says);
    return array_map(fn ($one) => is_array($one) ? sorted($one) : $one, $says);
}
$tells = fn (array $expected, string|array $spec) => same(sorted(array_replace(DEFAULTS, $expected)), sorted(describe_server($spec)), json_encode($spec));

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

// Sentinels or a cluster's nodes find the servers. With replicas, the guard is that of an object with the default lease
// time.
$service = fn (array $expected) => $expected + ['host' => null, 'port' => 0, 'replicas' => 1, 'nodes' => 0, 'guard' => 10.0, 'resync_guard' => true];
$seeds = fn (array $seeds) => array_map(fn (array $seed) => ['host' => $seed[0], 'port' => $seed[1]], $seeds);
$tells($service(['label' => 'mymaster at s1:26379,[::1]:7', 'discovery' => 'sentinel', 'seeds' => $seeds([['s1', 26379], ['::1', 7]]), 'service' => 'mymaster',
    'sentinel' => ['tls' => null, 'user' => null, 'password' => null]]), 'sentinel://S1,[::1]:7/mymaster');
$tells($service(['label' => 'm at s1:1', 'discovery' => 'sentinel', 'seeds' => $seeds([['s1', 1]]), 'service' => 'm', 'user' => 'u', 'password' => 'p', 'database' => 2,
    'sentinel' => ['tls' => null, 'user' => 'su', 'password' => 'sp'], 'replicas' => 2, 'guard' => 2.5]),
    'sentinel://u:p@s1:1/m/2?sentinel_user=su&sentinel_password=sp&replicas=2&guard=2.5');
$tells($service(['label' => 'h1:6379,h2:7', 'discovery' => 'cluster', 'seeds' => $seeds([['h1', 6379], ['h2', 7]]), 'replicas' => 0, 'nodes' => null, 'guard' => null, 'resync_guard' => null]),
    'cluster://h1,h2:7?replicas=0');
$tells(['replicas' => 3, 'nodes' => 0, 'guard' => 10.0, 'resync_guard' => true], 'redis://redis1?replicas=3');
$tells(['replicas' => 1, 'nodes' => 0, 'guard' => 0.1, 'resync_guard' => false], ['host' => 'redis1', 'replicas' => '1', 'guard' => 0.1, 'resyncGuard' => false]);
$settings = fn (string $ttl, string $restart_guard) => [ini_set('dlock.ttl', $ttl), ini_set('dlock.restart_guard', $restart_guard)];
foreach ([['30', '20', 30.0], ['5', '20', 20.0], ['5', '0', 10.0], ['12.5', '0', 12.5], ['4000', '0', 3600.0], ['0.01', '0.02', 0.1]] as [$ttl, $restart_guard, $guard]) {
    $settings($ttl, $restart_guard);
    $tells(['replicas' => 1, 'nodes' => 0, 'guard' => $guard, 'resync_guard' => true], 'redis://redis1?replicas=1');
}
ini_restore('dlock.ttl');
ini_restore('dlock.restart_guard');

// TLS: the names are those of PHP's streams.
if (!str_contains((string) thrown_by(fn () => describe_server('rediss://redis1')), 'has no TLS')) {
    $tells(['tls' => ['verify_peer' => true, 'verify_peer_name' => true, 'peer_name' => 'redis1']], 'rediss://redis1');
    $tells(['tls' => ['verify_peer' => false, 'verify_peer_name' => true, 'peer_name' => 'x', 'cafile' => '/ca', 'local_cert' => '/cert', 'local_pk' => '/key',
        'passphrase' => 'secret']], ['host' => 'tls://redis1', 'ssl' => ['verify_peer' => false, 'peer_name' => 'x', 'cafile' => '/ca', 'local_cert' => '/cert',
        'local_pk' => '/key', 'passphrase' => 'secret']]);
    $tls = ['verify_peer' => true, 'verify_peer_name' => true];
    foreach (['tls=1' => [$tls, $tls], 'tls=1&sentinel_tls=0' => [$tls, null], 'sentinel_tls=1' => [null, $tls]] as $options => [$servers, $sentinels]) {
        $tells($service(['label' => 'm at s:26379', 'discovery' => 'sentinel', 'seeds' => $seeds([['s', 26379]]), 'service' => 'm', 'tls' => $servers,
            'sentinel' => ['tls' => $sentinels, 'user' => null, 'password' => null]]), "sentinel://s/m?$options");
    }
}

// The members of an ensemble.
$member = fn (string $label, string $host, int $port) => ['backend' => 'zookeeper', 'label' => $label, 'host' => $host, 'port' => $port];
same([$member('zk1:2181', 'zk1', 2181), $member('[::1]:2182', '::1', 2182), $member('zk3:2181', 'zk3', 2181)], describe_ensemble('zk1,[::1]:2182,zk3:2181/a/b'), 'a list');
same([$member('zk1:2183', 'zk1', 2183)], describe_ensemble(['host' => 'zk1', 'port' => 2183]), 'an array');

// Both functions refuse what the classes refuse; no trace has the password.
fails(ValueError::class, 'Dlock\describe_server(): Argument #1 ($server) must have a password after the user*', fn () => describe_server('redis://u@redis1'));
fails(ValueError::class, 'Dlock\describe_ensemble(): Argument #1 ($servers) must have one port after a host, and IPv6 addresses in brackets*', fn () => describe_ensemble('::1'));
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
