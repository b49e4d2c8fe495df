--TEST--
Sentinels, a cluster, replicas and the guard, as DSN and as array: what they mean, what is refused, and the lease times
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use function Dlock\describe_server;

function label_of(DistributedLock $lock): string
{
    ob_start();
    var_dump($lock);
    preg_match('/\["servers"\]=>\s+string\(\d+\) "(.*)"/', ob_get_clean(), $found);
    return $found[1] ?? '';
}

// ---- an array says what its DSN says ----
foreach ([
    ['sentinel://s1,s2:7,[::1]:8/mymaster', ['sentinels' => ['s1', ['host' => 's2', 'port' => 7], ['::1', '8']], 'service' => 'mymaster']],
    ['sentinel://s1,s2/m', ['sentinels' => ['a' => ['s1'], 'b' => ['host' => 's2']], 'service' => 'm', 'scheme' => 'redis']],
    ['sentinel://[fe80::1]/m', ['sentinels' => ['[fe80::1]'], 'service' => 'm']],
    ['sentinel://u:p@s1/m/3?sentinel_user=su&sentinel_password=sp&replicas=2&guard=2.5&connect_timeout=0.5&read_timeout=2', ['service' => 'm', 'sentinels' => ['s1'],
        'auth' => ['u', 'p'], 'sentinelAuth' => ['user' => 'su', 'pass' => 'sp'], 'database' => 3, 'replicas' => 2, 'guard' => 2.5, 'connectTimeout' => 0.5, 'readTimeout' => 2]],
    ['sentinel://s1/m?sentinel_password=sp&replicas=0', ['sentinels' => ['s1'], 'service' => 'm', 'sentinelAuth' => 'sp', 'replicas' => 0, 'sentinelTls' => false, 'ssl' => null]],
    ['cluster://h1:7000,h2', ['cluster' => ['h1:7000', ['h2', 6379]]]],
    ['cluster://:p@h1?guard=60&replicas=2', ['cluster' => ['h1'], 'auth' => 'p', 'guard' => '60', 'replicas' => '2', 'database' => 0]],
    ['redis://h?replicas=1&guard=20&resync_guard=0', ['host' => 'h', 'replicas' => 1, 'guard' => 20, 'resyncGuard' => false]],
    ['sentinel://s1/m?resync_guard=1', ['sentinels' => ['s1'], 'service' => 'm', 'resyncGuard' => true]],
    ['sentinel://s1/m?resync_guard=0', ['sentinels' => ['s1'], 'service' => 'm', 'resyncGuard' => '0', 'sentinelTls' => 0]],
    ['redis://h', ['host' => 'h', 'replicas' => 0]],
    ['unix:///s?replicas=1', ['host' => '/s', 'replicas' => 1]],
] as [$dsn, $array]) {
    same(describe_server($dsn), describe_server($array), $dsn);
    $lock = new DistributedLock($array, ttl: 1);
    same(describe_server($dsn)['label'], label_of($lock), "$dsn, shown");
}
$sentinels = ['s1'];
foreach ($sentinels as &$sentinel) {
}
same('m at s1:26379', describe_server(['sentinels' => &$sentinels, 'service' => 'm'])['label'], 'references');

// ---- wrong specifications ----
const NO_TEXT = 'must have a service that is not empty and has no NUL bytes';
const OF_SENTINELS = 'must have no s*, since it names no Sentinels';
$s = fn (mixed $sentinels, array $more = []) => ['sentinels' => $sentinels, 'service' => 'm'] + $more;
foreach ([
    ['sentinel://', 'must name a host'], ['sentinel://s1,/m', 'must name a host'], ['sentinel://s1', 'must have the name of a service, as in "sentinel://s1:26379,s2:26379/mymaster"'],
    ['sentinel://s1/m/x', 'must have a whole number between 0 and 1000000 as database'], ['cluster://h/1', 'must have no database but 0: a Redis Cluster has no other'],
    ['redis://h?guard=10', 'must have a guard only where replicas is 1 or more'], ['redis://h?tls=1', 'must have no option tls: rediss:// is for TLS, redis:// without'],
    ['sentinel://s/m?replicas=9', 'must have a whole number between 0 and 8 as replicas'], ['sentinel://s/m?guard=0', 'must have a guard between 0.1 and 3600 seconds'],
    ['memcached://h?replicas=1', "must have no replicas, since dlock speaks memcached's text protocol, which has none"], ['memory://?guard=1', 'must have no guard, since memory:// is no server'],
    ['redis://h?sentinel_password=x', OF_SENTINELS], [['host' => 'h', 'service' => 'm'], OF_SENTINELS], [['host' => 'h', 'sentinelTls' => false], OF_SENTINELS],
    [['cluster' => ['h'], 'sentinelAuth' => 'x'], OF_SENTINELS],
    [['host' => 'h', 'sentinels' => ['s']], 'must have only one of host, sentinels and cluster'], [['h', 'cluster' => ['s']], 'must have only one of host, *'],
    [['sentinels' => ['s'], 'cluster' => ['s']], 'must have only one of host, *'],
    [$s([]), 'must name a Sentinel'], [['cluster' => []], 'must name a node of the cluster'], [['sentinels' => ['s']], 'must have the name of a service, *'],
    [['sentinels' => ['s'], 'service' => ''], NO_TEXT],
    [['sentinels' => ['s'], 'service' => 'a b'], 'must have a service of 1 to 100 printable characters of ASCII, without spaces and @ / ? # ,'], [['sentinels' => ['s'], 'service' => "m\0"], NO_TEXT],
    [$s(['s'], ['port' => 7]), 'must have no port but those of its sentinels or cluster'], [['cluster' => ['h'], 'database' => 1], 'must have no database but 0: *'],
    [$s(['s', 's:x']), 'sentinels[1] must have a port between 1 and 65535'], [$s(['s', ['s', 0]]), 'sentinels[1] must have a port between 1 and 65535'],
    [$s(['a' => 's', 'b' => '']), 'sentinels[1] must name a host'], [$s(["s\0"]), 'sentinels[0] must not contain NUL bytes'], [$s([["s\0"]]), 'sentinels[0] must have a host that *'],
    [$s(['a,b']), 'must have hosts without user, password, path, commas or spaces'], [$s(['tls://s']), 'sentinels[0] must have a port *'],
    [$s([['host' => 'tls://s']]), 'must have hosts without *'], [$s([[]]), 'sentinels[0] must be "host:port", [host, port] or ["host" => ..., "port" => ...]'],
    [$s([['s', 1, 2]]), 'sentinels[0] must be "host:port", *'], [$s([['host' => 's', 'auth' => 'x']]), 'sentinels[0] must be "host:port", *'],
    [['cluster' => ['h', ['port' => 7]]], 'cluster[1] must be "host:port", *'], [['cluster' => array_fill(0, 65, 'h')], 'cluster[64] must name at most 64 servers'],
    [$s(['s'], ['replicas' => 9]), 'must have a whole number between 0 and 8 as replicas'], [$s(['s'], ['replicas' => -1]), 'must have a whole number between 0 and 8 as replicas'],
    [$s(['s'], ['guard' => 0]), 'must have a guard between 0.1 and 3600 seconds'], [$s(['s'], ['guard' => 3601]), 'must have a guard between *'],
    [$s(['s'], ['guard' => NAN]), 'must have a guard between *'], [$s(['s'], ['guard' => 10, 'replicas' => 0]), 'must have a guard only where replicas is 1 or more'],
    [['host' => 'h', 'guard' => 10], 'must have a guard only where replicas is 1 or more'],
    [['host' => 'h', 'resyncGuard' => true], 'must have a resync_guard only where replicas is 1 or more'],
    [$s(['s'], ['sentinelAuth' => ['user' => 'u']]), 'must have auth as a password, *'], [$s(['s'], ['scheme' => 'sentinel']), 'must have a scheme that is redis, rediss, unix, memcached, memory, pgsql or mysql'],
    [['host' => 'h', 'scheme' => 'cluster'], 'must have a scheme that is redis, *'], [['scheme' => 'memcached', 'cluster' => ['h']], 'must have no sentinels and no cluster: only Redis has them'],
] as [$spec, $text]) {
    fails(ValueError::class, "DistributedLock::__construct(): Argument #1 (\$server) $text", fn () => new DistributedLock($spec), shown($spec));
    fails(ValueError::class, "RedLock::__construct(): Argument #1 (\$servers) element 1 $text", fn () => new RedLock(['redis://a', $spec]), 'RedLock, ' . shown($spec));
}
foreach ([
    [$s('s1:26379'), 'must have a list of servers as sentinels, string given'], [['cluster' => null], 'must have a list of servers as cluster, null given'],
    [$s([5]), 'sentinels[0] must have "host:port" or an array, int given'], [$s(['s', [5]]), 'sentinels[1] must have a string as host, int given'],
    [['cluster' => [['h', '7x']]], 'cluster[0] must have an int as port, string given'], [['sentinels' => ['s'], 'service' => 5], 'must have a string as service, int given'],
    [$s(['s'], ['replicas' => 1.0]), 'must have an int as replicas, float given'], [$s(['s'], ['replicas' => null]), 'must have an int as replicas, null given'],
    [$s(['s'], ['guard' => 'x']), 'must have seconds as guard, string given'], [$s(['s'], ['resyncGuard' => null]), 'must have true or false as resyncGuard, null given'], [$s(['s'], ['sentinelTls' => 1.0]), 'must have true or false as sentinelTls, float given'],
    [$s(['s'], ['sentinelAuth' => 5]), 'must have strings in auth, int given'],
] as [$spec, $text]) {
    fails(TypeError::class, "DistributedLock::__construct(): Argument #1 (\$server) $text", fn () => new DistributedLock($spec), shown($spec));
    fails(TypeError::class, "RedLock::__construct(): Argument #1 (\$servers) element 0 $text", fn () => new RedLock([$spec]), 'RedLock, ' . shown($spec));
}

// ---- classes and modes that refuse them ----
foreach (['sentinel://s/m', 'cluster://h?replicas=0', 'redis://h?replicas=1', ['sentinels' => ['s'], 'service' => 'm', 'replicas' => 0], ['host' => 'h', 'replicas' => 1]] as $spec) {
    fails(ValueError::class, 'DistributedLock::__construct(): Argument #8 ($legacy) must be false: only one plain Redis server has locks of other code to share, without Sentinels, '
        . 'cluster or replicas', fn () => new DistributedLock($spec, ttl: 1, legacy: true), shown($spec));
}
foreach (['sentinel://s/m' => 'a service behind Sentinels', 'cluster://h?replicas=0' => 'a cluster', 'redis://h?replicas=1' => 'one with replicas'] as $spec => $what) {
    foreach ([[$spec], ['redis://a', $spec]] as $list) {
        fails(ValueError::class, 'RedLock::__construct(): Argument #1 ($servers) must name plain Redis servers, but element ' . count($list) - 1 . " is $what: RedLock needs servers that are "
            . 'independent of each other', fn () => new RedLock($list), "RedLock, $spec");
    }
}
same(null, thrown_by(fn () => new RedLock(['redis://a', 'redis://b?replicas=0'])), 'RedLock takes a server that has no replicas to ask');
same(null, thrown_by(fn () => new DistributedLock('redis://h?replicas=0', legacy: true)), 'so does the legacy mode');

// ---- no lease time is longer than the guard ----
$bounds = fn (string $most) => "must be between 0.003 and $most seconds: no lease time may exceed the guard, which the option \"guard\" of the server sets";
foreach (['sentinel://s/m', 'cluster://h', 'redis://h?replicas=2'] as $dsn) {
    $guarded = $dsn . (str_contains($dsn, '?') ? '&' : '?') . 'guard=2.5';
    foreach ([2.6, 0, -1, NAN, INF, 4000] as $ttl) {
        fails(ValueError::class, 'DistributedLock::__construct(): Argument #3 ($ttl) ' . $bounds('2.5'), fn () => new DistributedLock($guarded, ttl: $ttl), "$guarded, $ttl s");
    }
    $lock = new DistributedLock($guarded, ttl: 2.5);
    fails(ValueError::class, 'DistributedLock::lock(): Argument #3 ($expire) ' . $bounds('2.5'), fn () => $lock->lock('r', 0, 2.6), "$dsn, lock()");
    fails(ValueError::class, 'DistributedLock::expire(): Argument #2 ($expire) ' . $bounds('2.5'), fn () => $lock->expire('r', 3), "$dsn, expire()");
    foreach (['acquire', 'tryAcquire'] as $call) {
        fails(ValueError::class, "DistributedLock::$call(): Argument #3 (\$ttl) " . $bounds('2.5'), fn () => $lock->$call('r', 0, 2.6), "$dsn, $call()");
    }
    fails(ValueError::class, 'DistributedLock::synchronized(): Argument #4 ($ttl) ' . $bounds('2.5'), fn () => $lock->synchronized('r', fn () => null, 0, 3), "$dsn, synchronized()");
    // By default it is the restart guard, or dlock.ttl.
    fails(ValueError::class, '*' . $bounds('10'), fn () => (new DistributedLock($dsn))->acquire('r', 0, 10.001), "$dsn, the default");
    fails(ValueError::class, '*' . $bounds('10'), fn () => (new DistributedLock($dsn, ttl: 1))->acquire('r', 0, 10.001), "$dsn, the default, and a short ttl");
    fails(ValueError::class, '*' . $bounds('10'), fn () => new DistributedLock($dsn, ttl: 10.001), "$dsn, a longer ttl");
    ini_set('dlock.ttl', '30');
    fails(ValueError::class, '*' . $bounds('30'), fn () => (new DistributedLock($dsn))->acquire('r', 0, 30.001), "$dsn, longer than dlock.ttl");
    ini_restore('dlock.ttl');
    fails(ValueError::class, '*' . $bounds('10'), fn () => new DistributedLock($dsn, ttl: INF), "$dsn, an infinite ttl");
}
fails(ValueError::class, 'dlock.ttl must be between 0.003 and 2.5 seconds on this server, since no lease time may exceed the guard, which its option "guard" sets; or give a $ttl',
    fn () => new DistributedLock('sentinel://s/m?guard=2.5'), 'the default lease time');
ini_set('dlock.restart_guard', '20');
fails(ValueError::class, '*' . $bounds('20'), fn () => (new DistributedLock('cluster://h'))->acquire('r', 0, 21), 'dlock.restart_guard');
ini_set('dlock.restart_guard', '0');
fails(ValueError::class, '*' . $bounds('10'), fn () => (new DistributedLock('cluster://h'))->acquire('r', 0, 11), 'dlock.restart_guard 0');
// Without replicas there is no guard.
same(null, thrown_by(fn () => new DistributedLock('sentinel://s/m?replicas=0', ttl: 5000)), 'without replicas');

// ---- dlock.server ----
foreach (['sentinel://:secret@s1:1,s2/m/2' => 'm at s1:1,s2:26379', 'cluster://h1,h2:7?guard=60' => 'h1:6379,h2:7', 'redis://h?replicas=1' => 'h:6379'] as $dsn => $label) {
    holds(ini_set('dlock.server', $dsn) !== false, "dlock.server=$dsn");
    same($label, label_of(new DistributedLock()), "the server of dlock.server=$dsn");
}
fails(ValueError::class, '*' . $bounds('60'), function () {
    ini_set('dlock.server', 'cluster://h?guard=60');
    (new DistributedLock())->acquire('r', 0, 61);
}, 'its guard');
same(false, @ini_set('dlock.server', 'sentinel://s1'), 'without a service');
same('dlock.server must have the name of a service, as in "sentinel://s1:26379,s2:26379/mymaster"', error_get_last()['message'], 'the warning');
echo "done\n";
?>
--EXPECT--
done
