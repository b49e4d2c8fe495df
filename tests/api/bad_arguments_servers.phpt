--TEST--
A bad server is refused with a ValueError or TypeError that names the argument, the element of a list, and what it may be
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

const SCHEME = 'must begin with redis://, rediss://, unix://, sentinel://, cluster://, memcached://, memory://, pgsql:// or mysql://, like "redis://127.0.0.1:6379"';
const PORT = 'must have a port between 1 and 65535';
const DATABASE = 'must have a whole number between 0 and 1000000 as database';
const DB = 'must have a whole number between 0 and 1000000 as db';
const ONE_PORT = 'must have one port after a host, and IPv6 addresses in brackets, as in "[::1]:7000"';
const PASSWORD = 'must have a password after the user (user:password@ or :password@)';
const SLASH = 'must have / and ? in a user or password written as %2F and %3F';
const NUL = 'must not contain NUL bytes';
const PERCENT = 'must have each % followed by two hexadecimal digits';
const OPTION = 'has an unknown option*; known are database, connect_timeout, read_timeout, *';
const SSL_OPTION = 'has an unknown option of ssl *; known are verify_peer, verify_peer_name, peer_name, cafile, capath, local_cert, local_pk and passphrase';

$bad = [
    // DSN
    ['', 'must not be empty'], ['localhost', SCHEME], ['localhost:6379', SCHEME], ['//h', SCHEME], ['redis:/h', SCHEME], ['redis:h', SCHEME], ['http://h', SCHEME],
    ['tcp://h', SCHEME], [' redis://h', SCHEME], ['redis', SCHEME], ["\0", NUL], ['zookeeper://h', 'must not be ZooKeeper: use ZkLock, Dlock\Semaphore or Dlock\ReadWriteLock'],
    ['redis://', 'must name a host'], ['redis:///1', 'must name a host'], ['redis://:6379', 'must name a host'], ['redis://:pw@', 'must name a host'], ['redis://?db=1', 'must name a host'],
    ['redis://[]:1', 'must name a host'],
    ['redis://h:', PORT], ['redis://h:0', PORT], ['redis://h:70000', PORT], ['redis://h:65536', PORT], ['redis://h:-1', PORT], ['redis://h:+1', PORT], ['redis://h:1x', PORT],
    ['redis://h: 1', PORT], ['redis://h:1.0', PORT], ['redis://h:0x10', PORT], ['redis://h:99999999999999999999', PORT], ['redis://h:1:2', ONE_PORT], ['redis://::1', ONE_PORT],
    ['redis://[::1', 'must have a closing ] after the IPv6 address'], ['redis://[::1]x', 'must have nothing but a port after the IPv6 address'], ['redis://[::1]:0', PORT],
    ['redis://h/x', DATABASE], ['redis://h/-1', DATABASE], ['redis://h/1.5', DATABASE], ['redis://h/1/2', DATABASE], ['redis://h/99999999999', DATABASE], ['redis://h?db=', DB], ['redis://h?db=x', DB],
    ['redis://:a/b@h', SLASH], ['redis://u:a/b@h/1', SLASH], ['redis://:a?b@h', SLASH], ['redis://:1/b@h', SLASH],
    ['redis://user@h', PASSWORD], ['redis://user:@h', PASSWORD], ['redis://@h', PASSWORD], ['redis://:@h', PASSWORD],
    ["redis://h\0", NUL], ["redis://:a\0b@h", NUL], ['redis://:%00@h', NUL], ['redis://%00', NUL], ['unix:///a%00b', NUL],
    ['redis://%', PERCENT], ['redis://%4', PERCENT], ['redis://%zz', PERCENT], ['redis://:%@h', PERCENT], ['redis://h?%=1', PERCENT],
    ['redis://h?', null], ['redis://h?x', 'must have options of the form name=value'], ['redis://h?db=1&', null], ['redis://h?db=1&&db=2', 'must have options of the form name=value'],
    ['redis://h?guards=1', 'has an unknown option "guards"; known are database, *'], ['redis://u:a?b=c@h', SLASH], ['redis://u:1?b=c@h', SLASH], ['redis://u:p@h?b=c@d', SLASH],
    ['redis://h?x=1', OPTION], ['redis://h?DB=1', OPTION], ['redis://h?=1', OPTION], ['redis://h?timeout=1', OPTION],
    ['redis://h?connect_timeout=0', 'must have a connect_timeout between 0.001 and 3600 seconds'], ['redis://h?connect_timeout=-1', 'must have a connect_timeout between *'],
    ['redis://h?read_timeout=3601', 'must have a read_timeout between 0.001 and 3600 seconds'], ['redis://h?read_timeout=', 'must have a read_timeout between *'],
    ['redis://h?read_timeout=1e3', 'must have a read_timeout between *'], ['redis://h?read_timeout=nan', 'must have a read_timeout between *'], ['redis://h?read_timeout=.', 'must have a read_timeout between *'],
    ['redis://h?read_timeout=1,5', 'must have a read_timeout between *'], ['redis://h?read_timeout=99999999999999999999', 'must have a read_timeout between *'],
    ['redis://h?verify_peer=maybe', 'must have verify_peer either true or false (1 or 0)'], ['redis://h?cafile=', 'must have a cafile that is not empty and has no NUL bytes'],
    ['unix://', 'must have an absolute path after unix://'], ['unix://run/x.sock', 'must have an absolute path after unix://'], ['unix://?db=1', 'must have an absolute path after unix://'],
    ['unix:///' . str_repeat('x', 200), 'must have a socket path of at most 100 bytes'], ['unix:///x?db=x', DB],
    // list
    [[], 'must be a DSN, the list [host, port, connect timeout] or an array with a host, sentinels or cluster'],
    [['', 1], 'must have a host that is not empty and has no NUL bytes'], [["h\0", 1], 'must have a host that is not empty and has no NUL bytes'],
    [['http://h', 1], 'must have a host without scheme, or with tcp://, tls:// or unix://; *'], [['redis://h', 1], 'must have a host without scheme, or with tcp://, tls:// or unix://; a DSN is a string, not in an array'],
    [['h', 0], PORT], [['h', '0'], PORT], [['host' => 'h', 'port' => '70000'], PORT], [['h', -1], PORT], [['h', 70000], PORT], [['h', PHP_INT_MAX], PORT],
    [['h', 1, 0.5, 'more'], 'must be a list of at most three: [host, port, connect timeout]'], [['h', -5 => 1], 'must be a list of at most three: *'],
    [['h', 1, -1], 'must have a connect timeout between 0.001 and 3600 seconds'], [['h', 1, NAN], 'must have a connect timeout between *'], [['h', 1, INF], 'must have a connect timeout between *'],
    [['h', 1, 3601], 'must have a connect timeout between *'], [['h', 1, 0.0001], 'must have a connect timeout between *'],
    [['user:pw@h', 1], 'must have a host without *'], [['h/1', 1], 'must have a host without *'], [['a b', 1], 'must have a host without *'],
    [['/' . str_repeat('x', 200)], 'must have a socket path of at most 100 bytes'],
    // array
    [['port' => 1], 'must be a DSN, the list [host, port, connect timeout] or an array with a host, sentinels or cluster'], [['x' => 1], 'must be a DSN, *'],
    [['host' => ''], 'must have a host that is not empty and has no NUL bytes'], [['host' => 'h', 'port' => 0], PORT], [['host' => 'h', 'port' => 70000], PORT],
    [['host' => '10.0.0.5:6379'], 'must have a host without its port, which is "port" of the array'], [['10.0.0.5:6379', 6379], 'must have a host without its port*'],
    [['host' => 'h', 'Port' => 1], 'has an unknown key "Port"; known are scheme, host, port, auth, ssl, sentinels, sentinelAuth, cluster, database, connectTimeout, readTimeout, service, sentinelTls, replicas, nodes, guard and resyncGuard'], [['host' => 'h', '' => 1], 'has an unknown key ""; *'],
    [['host' => 'h', 'database' => -1], DATABASE], [['host' => 'h', 'database' => PHP_INT_MAX], DATABASE],
    [['host' => 'h', 'connectTimeout' => -1], 'must have a connectTimeout between 0.001 and 3600 seconds'], [['host' => 'h', 'readTimeout' => NAN], 'must have a readTimeout between 0.001 and 3600 seconds'],
    [['host' => 'h', 'auth' => ''], 'must have users and passwords that are not empty and have no NUL bytes'], [['host' => 'h', 'auth' => "a\0b"], 'must have users and passwords *'],
    [['host' => 'h', 'auth' => ['u', '']], 'must have users and passwords *'], [['host' => 'h', 'auth' => ['', 'p']], 'must have users and passwords *'],
    [['host' => 'h', 'auth' => []], 'must have auth as a password, [user, password] or ["user" => ..., "pass" => ...]'], [['host' => 'h', 'auth' => ['user' => 'u']], 'must have auth as a password, *'],
    [['host' => 'h', 'ssl' => ['x' => 1]], SSL_OPTION], [['host' => 'h', 'ssl' => [1]], SSL_OPTION], [['host' => 'h', 'ssl' => ['read_timeout' => 1]], SSL_OPTION],
    [['host' => 'h', 'ssl' => ['verify_peer' => 2]], 'must have verify_peer either true or false (1 or 0)'],
];
foreach ($bad as [$spec, $text]) {
    $shown = shown(is_string($spec) ? substr($spec, 0, 60) : $spec);
    if ($text === null) {
        same(null, thrown_by(fn () => new DistributedLock($spec)), $shown);
        continue;
    }
    fails(ValueError::class, "DistributedLock::__construct(): Argument #1 (\$server) $text", fn () => new DistributedLock($spec), $shown);
    fails(ValueError::class, "RedLock::__construct(): Argument #1 (\$servers) element 2 $text", fn () => new RedLock(['redis://a', 'redis://b', $spec]), "RedLock, $shown");
}

$types = [
    [[5, 1], 'a string as host, int given'], [[null, 1], 'a string as host, null given'], [['host' => []], 'a string as host, array given'],
    [['h', ''], 'an int as port, string given'], [['h', '1.5'], 'an int as port, string given'], [['h', '1x'], 'an int as port, string given'], [['h', 1.0], 'an int as port, float given'], [['h', null], 'an int as port, null given'], [['host' => 'h', 'port' => 'redis'], 'an int as port, string given'],
    [['h', 1, '1s'], 'seconds as connect timeout, string given'], [['host' => 'h', 'connectTimeout' => ''], 'seconds as connectTimeout, string given'], [['host' => 'h', 'readTimeout' => []], 'seconds as readTimeout, array given'],
    [['host' => 'h', 'database' => '1.0'], 'an int as database, string given'], [['host' => 'h', 'database' => null], 'an int as database, null given'],
    [['host' => 'h', 'auth' => 5], 'strings in auth, int given'], [['host' => 'h', 'auth' => ['u', 5]], 'strings in auth, int given'], [['host' => 'h', 'auth' => [5, 'p']], 'strings in auth, int given'],
    [['host' => 'h', 'auth' => ['user' => [], 'pass' => 'p']], 'strings in auth, array given'], [['host' => 'h', 'auth' => new stdClass()], 'strings in auth, stdClass given'],
    [['host' => 'h', 'ssl' => 'yes'], 'an array of TLS options as ssl, string given'],
    [['host' => 'h', 'ssl' => ['cafile' => ['x']]], 'a string as cafile, array given'], [['host' => 'h', 'ssl' => ['cafile' => null]], 'a string as cafile, null given'],
    [['host' => 'h', 'ssl' => ['cafile' => 5]], 'a string as cafile, int given'], [['host' => 'h', 'ssl' => ['verify_peer' => null]], 'true or false as verify_peer, null given'],
    [['host' => 'h', 'ssl' => ['stream' => ['cafile' => new SplFileInfo('/ca.pem')]]], 'a string as cafile, SplFileInfo given'],
];
foreach ($types as [$spec, $text]) {
    fails(TypeError::class, "DistributedLock::__construct(): Argument #1 (\$server) must have $text", fn () => new DistributedLock($spec), shown($spec));
    fails(TypeError::class, "RedLock::__construct(): Argument #1 (\$servers) element 1 must have $text", fn () => new RedLock(['redis://a', $spec]), 'RedLock, ' . shown($spec));
}
foreach ([5, null, true, new stdClass(), 1.5] as $spec) {
    fails(TypeError::class, 'RedLock::__construct(): Argument #1 ($servers) element 0 must have a DSN or an array, * given', fn () => new RedLock([$spec]), 'RedLock, ' . shown($spec));
}
foreach ([5, true, new stdClass(), 1.5] as $spec) {
    fails(TypeError::class, 'DistributedLock::__construct(): Argument #1 ($server) must be of type array|string|null, * given', fn () => new DistributedLock($spec), shown($spec));
}
fails(TypeError::class, 'RedLock::__construct(): Argument #1 ($servers) must be of type array, string given', fn () => new RedLock('redis://h'));
fails(ArgumentCountError::class, 'RedLock::__construct() expects at least 1 argument, 0 given', fn () => new RedLock());
echo "done\n";
?>
--EXPECT--
done
