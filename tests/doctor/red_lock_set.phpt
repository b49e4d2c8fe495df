--TEST--
dlock-doctor judges a set of RedLock's servers: how many, where, the same server twice, restarts, clocks, servers that are down
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

/* Servers on addresses of their own, like machines. */
$dsn = fn (PrivateRedis $server, int $i) => "redis://127.0.0.$i:$server->port";
$set = [];
foreach ([2, 3, 4, 5] as $i) {
    $set[$i] = redis_private(["bind 127.0.0.1 127.0.0.$i", 'unixsocket redis.sock']);
}
$dsns = array_map($dsn, $set, array_keys($set));
$three = array_slice($dsns, 0, 3);
wait_for(fn () => min(array_map(fn (PrivateRedis $server) => $server->uptime(), $set)) >= 12, 60, 'the servers to be older than the restart guard');
finds([], $three, 'three');

// How many servers, and where.
finds(['few-servers' => 'warning'], [$dsns[0], '--class=RedLock'], 'one');
finds(['few-servers' => 'warning'], array_slice($dsns, 0, 2), 'two');
finds(['even-servers' => 'note'], $dsns, 'four');
$near = array_map(fn (PrivateRedis $server) => $server->dsn(), array_values($set));
finds(['one-host' => 'warning'], array_slice($near, 0, 3), 'all on one host');
finds(['one-host' => 'warning'], [$near[0], $near[1], $dsns[2]], 'most on one host');
finds(['even-servers' => 'note'], [$near[0], $near[1], $dsns[2], $dsns[3]], 'no majority on one host');
finds([], [$near[0], $dsns[1], $dsns[2]], 'one each');

// One server twice.
$texts = finds(['same-server' => 'problem'], [$dsns[0], $dsns[1], "unix://{$set[2]->dir}/redis.sock"], 'one of them twice');
holds(str_contains($texts['same-server'] ?? '', "127.0.0.2:{$set[2]->port}, {$set[2]->dir}/redis.sock are one"), 'which one', $texts);

// The setting that belongs to the lease time.
finds(['restart-guard' => 'warning'], [...$three, '--ttl=30'], 'long leases');
finds([], [...$three, '--ttl=30'], 'long leases, and as long a guard', '-d dlock.restart_guard=30');
finds(['restart-guard' => 'warning'], $three, 'long leases by the setting', '-d dlock.ttl=30');

// Servers are down or useless: RedLock works without them as long as a majority is left.
$dead = fn (int $i) => "redis://127.0.0.$i:" . closed_port();
$texts = finds(['unreachable' => 'warning'], [$dsns[0], $dsns[1], $dead(4)], 'one of three is down');
holds(str_contains($texts['unreachable'] ?? '', 'The other 2 of 3 make a majority as long as 2 are left'), 'how many are left', $texts);
finds(['unreachable' => 'problem'], [$dsns[0], $dead(3), $dead(4)], 'two of three are down');
finds(['password' => 'warning'], [$dsns[0], $dsns[1], str_replace('//', '//:surplus@', $dsns[2])], 'one of three takes no password');
$set[2]->raw()->cmd('CONFIG', 'SET', 'maxmemory', '1000');
finds(['memory' => 'warning'], $three, 'one of three is full');
$set[2]->raw()->cmd('CONFIG', 'SET', 'maxmemory', '0');

// If the extension says the same of all servers, the doctor prints it once.
$on_three = fn (string ...$command) => array_map(fn (PrivateRedis $server) => $server->raw()->cmd(...$command), array_slice($set, 0, 3));
$on_three('DEL', 'dlock:fence');
$on_three('LPUSH', 'dlock:fence', 'x');
$texts = finds(['trial' => 'problem'], $three, 'a key of another type');
preg_match_all('/[:;] 127\.0\.0\.\d:\d+: WRONGTYPE/', $texts['trial'] ?? '', $reasons);
$reasons = count(array_unique($reasons[0])); // the extension may have stopped asking at the second
holds($reasons >= 2 && substr_count($texts['trial'], 'WRONGTYPE') === $reasons, 'reasons', $texts);
$on_three('DEL', 'dlock:fence');

// Clocks.
$dir = temporary_directory();
exec(sprintf('gcc -shared -fPIC -O1 -o %s/clock.so %s 2>&1', escapeshellarg($dir), escapeshellarg(__DIR__ . '/../setup/clock.c')), $output, $code);
same(0, $code, 'gcc ' . implode("\n", $output));
$ahead = [];
foreach ([-3600, 100] as $seconds) {
    file_put_contents("$dir/clock$seconds", pack('d', $seconds));
    for ($ready = false; !$ready;) {
        $port = random_int(10240, 32000);
        $process = start_server(['env', "LD_PRELOAD=$dir/clock.so", "WALL_CLOCK=$dir/clock$seconds", 'redis-server', '--bind', '127.0.0.1', '--port', "$port",
            '--save', '', '--dir', $dir], "$dir/log$seconds");
        $ready = wait_for(fn () => str_contains((string) file_get_contents("$dir/log$seconds"), 'Ready to accept') ? 'ready'
            : (proc_get_status($process)['running'] ? '' : 'ended'), 20, 'a server') === 'ready'; // the port may be in use
    }
    $ahead[$seconds] = "redis://127.0.0.1:$port";
    $processes[] = $process;
}
$texts = finds(['clocks' => 'warning'], ['--ignore=restarted', $dsns[0], $dsns[1], $ahead[100]], 'one that is fast');
holds((bool) preg_match('/its clock is (99\.9\d?|100|100\.\d) s ahead/', $texts['clocks'] ?? ''), 'how fast', $texts);
$texts = finds(['clocks' => 'warning'], ['--ignore=restarted', $dsns[0], $dsns[1], $ahead[-3600]], 'one that is slow');
holds(str_contains($texts['clocks'] ?? '', '3600 s ahead of that of ' . substr($ahead[-3600], 8)), 'how slow', $texts);
finds(['clocks' => 'warning', 'persistence' => 'warning'], [$ahead[100]], 'DistributedLock');
foreach ($processes as $process) {
    proc_terminate($process, SIGKILL);
    proc_close($process);
}

// Servers have restarted.
$set[4]->restart();
$texts = finds(['restarted' => 'warning'], $three, 'one of three is young');
holds((bool) preg_match("/127\\.0\\.0\\.4:{$set[4]->port} up for \\d s only; before 10 s/", $texts['restarted'] ?? ''), 'which one', $texts);
finds(['restarted' => 'problem'], [$dsns[0], $dead(3), $dsns[2], '--ignore=unreachable'], 'one is young, one is down');
wait_for(fn () => $set[4]->uptime() >= 3, 60, 'the young one to be older than a short guard');
finds(['restarted' => 'warning', 'restart-guard' => 'warning'], [...$three, '--ttl=11'], 'old enough for the guard, but not for the lease time',
    '-d dlock.restart_guard=1');
finds([], [...$three, '--ttl=1'], 'old enough for both', '-d dlock.restart_guard=1');
finds(['unreachable' => 'warning'], [$dsns[0], $dead(3), $dsns[2], '--ttl=1'], 'old enough for both, one is down', '-d dlock.restart_guard=1');
$set[3]->restart();
$set[4]->restart();
finds(['restarted' => 'problem'], $three, 'two of three are young');
wait_for(function () use ($set) { // on a busy machine the starts may be too far apart to count as together
    $uptimes = array_map(function (int $i) use ($set) {
        $set[$i]->restart();
        return -now();
    }, [2, 3, 4]);
    return max($uptimes) - min($uptimes) < 3;
}, 60, 'three that were started within seconds');
$guard = '-d dlock.restart_guard=3600';
finds([], $three, 'all were started together', $guard);
finds(['restarted' => 'problem'], [$dsns[0], $dsns[1], $dsns[3]], 'all are young, one older than the others', $guard);
finds(['restarted' => 'problem'], [$dsns[0], $dead(3), $dsns[2], '--ignore=unreachable'], 'two are young, and one may be old', $guard);
echo "done\n";
?>
--EXPECT--
done
