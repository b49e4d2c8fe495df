--TEST--
RedLock: lock() returns an array with validity, resource, token and fencing token, in the units of the published class
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
; Of servers that have just been started all have to say yes; here a majority is enough.
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

foreach ([1, 2, 3, 4, 5, 6] as $n) {
    $servers = range(0, $n - 1);
    $red = new RedLock(redis_servers($n));
    // lock() may return before a new connection is established. Every later call continues what is under way.
    $on_all = fn (string $key) => [$red->isLocked($key), array_map(fn ($server) => redis_raw($server)->cmd('GET', $key), $servers)][1];
    $resource = unique((string) $n);

    $lock = $red->lock($resource, 60_000);
    same(['validity', 'resource', 'token', 'fencingToken'], array_keys($lock), "$n servers: keys");
    same(['float', 'string', 'string', 'int'], array_values(array_map('get_debug_type', $lock)), "$n servers: types");
    same($resource, $lock['resource'], "$n servers: resource");
    holds((bool) preg_match('/^[0-9a-f]{32,}$/', $lock['token']), "$n servers: a token of 128 bits or more", $lock['token']);
    // ttl - elapsed - drift (1 % and 2 ms)
    within(30_000, $lock['validity'], 60_000 - 600 - 2, "$n servers: validity in ms");
    wait_for(fn () => $on_all($resource) === array_fill(0, $n, $lock['token']), 60, 'the key on all servers');
    foreach ($servers as $server) {
        within(30_000, redis_raw($server)->cmd('PTTL', $resource), 60_000, "$n servers: time to live on $server");
    }

    same(true, $red->unlock($lock), "$n servers: unlock()");
    wait_for(fn () => $on_all($resource) === array_fill(0, $n, null), 60, 'the key to be gone');
    same(false, $red->unlock($lock), "$n servers: a second unlock()");

    // The default of 10 s, and the minimum.
    $lock = $red->lock($resource);
    within(1, $lock['validity'], 10_000 - 100 - 2, "$n servers: validity by default");
    same(true, $red->unlock($lock), "$n servers: unlock() of the default");
}

// The prefix goes before the resource, but not into the array.
$red = new RedLock(redis_servers(3), prefix: 'locks:');
$resource = unique('prefix');
$lock = $red->lock($resource);
same($resource, $lock['resource'], 'resource with a prefix');
wait_for(fn () => $red->isLocked($resource) && redis_raw()->cmd('GET', "locks:$resource") === $lock['token'], 60, 'the key with its prefix');
same(true, $red->unlock($lock), 'unlock() with a prefix');

// A lease of one millisecond is shorter than what clocks may disagree about, so the lock is never held.
same(false, @(new RedLock(redis_servers(3), 1, 2))->lock(unique('short'), 1), 'a ttl of 1 ms');

// Half of the servers is no majority.
foreach ([2 => 1, 3 => 2, 4 => 2, 5 => 3] as $n => $taken) {
    $resource = unique("taken-$n");
    for ($i = 0; $i < $taken; $i++) {
        redis_raw($i)->cmd('SET', $resource, 'theirs', 'PX', 50_000);
    }
    same(false, (new RedLock(redis_servers($n), 1, 2))->lock($resource, 1_000_000), "taken on $taken of $n");
    // RedLock releases its votes on the others.
    for ($i = $taken; $i < $n; $i++) {
        wait_until_gone(redis_raw($i), $resource);
    }
    redis_raw(0)->cmd('DEL', $resource);
    $lock = (new RedLock(redis_servers($n), 1, 2))->lock($resource);
    same($taken - 1 < $n - intdiv($n, 2), is_array($lock), 'taken on ' . ($taken - 1) . " of $n");
}
echo "done\n";
?>
--EXPECT--
done
