--TEST--
dlock-doctor reports a Redis server's settings that lose locks or prevent them, and only if they do
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

const KEPT = ['appendonly' => 'yes', 'appendfsync' => 'always'];
$server = redis_private(array_map(fn ($name, $value) => "$name $value", array_keys(KEPT), KEPT));
$redis = $server->raw();
$defaults = [];
/** The doctor finds this with these settings. @return array<string, string> */
$with = function (array $settings, array $expected, array $arguments = [], string $php = '') use ($server, &$defaults): array {
    $redis = $server->raw();
    foreach ($settings as $name => $value) {
        $defaults[$name] ??= $redis->cmd('CONFIG', 'GET', $name)[1];
        $redis->cmd('CONFIG', 'SET', $name, $value);
    }
    $texts = finds($expected, [$server->dsn(), ...$arguments], json_encode([$settings, $arguments, $php]), $php);
    $redis = $server->raw();
    foreach ($settings as $name => $value) {
        $redis->cmd('CONFIG', 'SET', $name, $defaults[$name]);
    }
    return $texts;
};
$used = function () use ($server): int {
    preg_match('/^used_memory:(\d+)/m', $server->raw()->cmd('INFO', 'memory'), $found);
    return (int) $found[1];
};
$with([], []);

// Which servers forget, and for which classes it matters.
$without_guard = '-d dlock.restart_guard=0';
$red = ['--class=RedLock', '--ignore=few-servers'];
$with(['appendonly' => 'no'], ['persistence' => 'warning']);
$with(['appendfsync' => 'everysec'], ['persistence' => 'note']);
$with(['appendfsync' => 'no'], ['persistence' => 'note']);
foreach (['appendonly' => ['no', 'problem'], 'appendfsync' => ['everysec', 'warning']] as $name => [$value, $severity]) {
    $texts = $with([$name => $value], ['persistence' => $severity], ['--class=Stock']);
    holds(str_contains($texts['persistence'], 'sold again'), 'what a stock forgets', $texts);
}
$with(['appendonly' => 'no'], ['persistence' => 'warning'], ['--class=Semaphore']);
$with(['appendonly' => 'no'], [], $red);
$with(['appendonly' => 'no'], ['persistence' => 'warning'], $red, $without_guard);
$with(['appendfsync' => 'everysec'], ['persistence' => 'warning'], $red, $without_guard);
$with([], [], $red, $without_guard);

// Connections.
$with(['maxclients' => 100], [], ['--workers=33']);
$with(['maxclients' => 100], ['maxclients' => 'warning'], ['--workers=40']);
$with(['maxclients' => 100], ['maxclients' => 'warning'], ['--workers=20', '--hosts=2']);
$with(['maxclients' => 100], ['maxclients' => 'problem'], ['--workers=51', '--hosts=2']);
$open = array_map(fn () => $server->raw(), range(1, 85));
$with(['maxclients' => 100], ['maxclients' => 'warning']);
array_map(fn (RedisRaw $connection) => $connection->close(), $open);
wait_for(fn () => preg_match('/^connected_clients:[12]\r/m', $redis->cmd('INFO', 'clients')), 60, 'the connections to be closed');
$with(['tcp-keepalive' => 0], ['keepalive' => 'note']);
$with(['tcp-keepalive' => 0, 'timeout' => 300], []);
$with(['timeout' => 1], []);
$redis = $server->raw(); // the test above may have ended the connection

// Memory. The policy does not matter until there is a limit.
$with(['maxmemory-policy' => 'allkeys-lru'], []);
$redis->cmd('EVAL', 'for i = 1, 2000 do redis.call("SET", "filling:" .. i, string.rep("x", 10000)) end', 0);
foreach (['allkeys-lru', 'allkeys-random', 'volatile-lru', 'volatile-ttl'] as $policy) {
    $texts = $with(['maxmemory' => 1 << 30, 'maxmemory-policy' => $policy], ['eviction' => 'problem']);
    same(str_starts_with($policy, 'volatile'), str_contains($texts['eviction'] ?? '', 'evicts keys with a TTL first'), "$policy: who goes first");
    holds(!str_contains($texts['eviction'] ?? '', 'so far'), "$policy: none was evicted");
}
$with(['maxmemory' => 1 << 30], []);
$with(['maxmemory' => (int) ($used() * 1.05)], ['memory' => 'warning']);
$with(['maxmemory' => '1mb'], ['memory' => 'problem']);
$with([], []);
$redis->cmd('CONFIG', 'SET', 'maxmemory', (int) ($used() * 0.9)); // each setting takes effect in this order
$redis->cmd('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-random');
wait_for(fn () => preg_match('/^evicted_keys:[1-9]/m', $redis->cmd('INFO', 'stats')), 60, 'evictions');
$texts = finds(['eviction' => 'problem'], [$server->dsn()], 'evictions');
holds((bool) preg_match('/allkeys-random, \d+ evicted so far/', $texts['eviction'] ?? ''), 'how many were evicted', $texts);

// Problems without a check of their own: the extension itself says what is wrong.
$other = redis_private(array_map(fn ($name, $value) => "$name $value", array_keys(KEPT), KEPT));
$other->raw()->cmd('LPUSH', 'dlock:fence', 'x');
$texts = finds(['trial' => 'problem'], [$other->dsn()], 'a key of another type');
holds(str_contains($texts['trial'] ?? '', 'WRONGTYPE'), 'a key of another type', $texts);

// Bound to an address that no machine here has: Redis runs without it, so that this test opens the server to no other
// machine.
$settings = array_map(fn ($name, $value) => "$name $value", array_keys(KEPT), KEPT);
$open = redis_private([...$settings, 'bind 127.0.0.1 -192.0.2.77', 'protected-mode no']);
finds(['open' => 'note'], [$open->dsn()], 'nobody needs a password');
$open->raw()->cmd('CONFIG', 'SET', 'protected-mode', 'yes');
finds([], [$open->dsn()], 'protected mode');
echo "done\n";
?>
--EXPECT--
done
