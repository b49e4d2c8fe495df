--TEST--
php-fpm: 60 further requests for each lock class open no connection, and send no AUTH, SELECT or SCRIPT
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$servers = array_map(fn () => redis_private(['user app on >secret ~* &* +@all']), range(0, 2));
$dsns = array_map(fn ($server) => "redis://app:secret@{$server->address()}/3", $servers);
$raws = array_map(fn ($server) => $server->raw(), $servers);
$fpm = fpm_start(['dlock.server' => '"' . $dsns[0] . '"'], 2);
$single = $fpm->script('single', '
    $lock = new DistributedLock();
    echo getmypid(), " ", json_encode([$lock->lock($_GET["key"]), $lock->isLocking($_GET["key"]), $lock->release($_GET["key"])]);
    pause(0.005); // so that the other worker gets its share
');
$red = $fpm->script('red', '
    $red = new RedLock(explode(",", $_GET["servers"]));
    $lock = $red->lock($_GET["key"]);
    echo getmypid(), " ", json_encode([is_array($lock), $red->isLocked($_GET["key"]), $red->unlock($lock)]);
    pause(0.005);
');
$lease = $fpm->script('lease', '
    $lock = new DistributedLock();
    $lease = $lock->acquire($_GET["key"]);
    echo getmypid(), " ", json_encode([$lease->isHeld(), $lock->isLocked($_GET["key"]), true]); // and the end of the request releases
    pause(0.005);
');

/** Sends $n requests, two at a time, and returns how many each worker answered. */
$requests = function (string $script, int $n) use ($fpm, $dsns): array {
    $workers = [];
    for ($i = 0; $i < $n; $i += 2) {
        $both = array_map(fn ($k) => $fpm->send($script, ['key' => unique("$i-$k"), 'servers' => implode(',', $dsns)]), [0, 1]);
        foreach ($both as $request) {
            [$pid, $result] = explode(' ', $request->response(), 2) + [1 => ''];
            same('[true,true,true]', $result, 'a request');
            $workers[$pid] = ($workers[$pid] ?? 0) + 1;
        }
    }
    return $workers;
};

// RedLock has a script for servers whose fencing tokens disagree, which two workers at a time may cause. Each server
// learns it here, not at some time below: it is pushed ahead of the others until it has been asked to follow.
$cached = function (RedisRaw $redis): int {
    preg_match('/^number_of_cached_scripts:(\d+)/m', $redis->cmd('INFO', 'memory'), $found);
    return (int) $found[1];
};
$ahead = time() * 1_000_000;
wait_for(function () use ($raws, $requests, $red, $cached, &$ahead) {
    foreach ($raws as $redis) {
        $redis->cmd('SELECT', 3);
        $redis->cmd('SET', 'dlock:fence', (string) ($ahead += 1_000_000_000));
        $requests($red, 2);
    }
    return min(array_map($cached, $raws)) >= 3;
}, 60, 'all servers to know all scripts');

foreach (['DistributedLock' => [$single, [$raws[0]]], 'RedLock' => [$red, $raws], 'Lease' => [$lease, [$raws[0]]]] as $name => [$script, $on]) {
    // Until both workers have answered.
    $seen = [];
    wait_for(function () use ($requests, $script, &$seen) {
        $seen += $requests($script, 4);
        return count($seen) === 2;
    }, 60, 'both workers');
    $requests($script, 10); // stragglers of the first round have connected as well

    $clients = array_map(client_ids(...), $on);
    foreach ($on as $redis) {
        $redis->cmd('CONFIG', 'RESETSTAT');
    }
    $received = array_map(connections_received(...), $on);
    same(2, count($clients[0]), "$name: connections of two workers");
    same(60, array_sum($requests($script, 60)), "$name: requests");
    same($received, array_map(connections_received(...), $on), "$name: connections received");
    same($clients, array_map(client_ids(...), $on), "$name: ids of the connections");
    foreach ($on as $redis) {
        $counts = command_counts($redis);
        if ($name === 'Lease') { // no caller waits for the release: it always contains the script's text
            unset($counts['eval']);
        }
        same([], array_intersect_key($counts, array_flip(['auth', 'select', 'eval', 'script|load', 'script', 'hello', 'ping'])), "$name: commands to set up");
        holds(($counts['evalsha'] ?? 0) >= 60, "$name: commands of the locks", $counts);
    }
    same(2, count($fpm->workerPids()), "$name: workers");
}
foreach ($raws as $i => $redis) {
    $redis->cmd('SELECT', 3);
    wait_for(fn () => array_diff($redis->cmd('KEYS', '*'), ['dlock:fence']) === [], 60, "no lock to be left on server $i");
}
$fpm->stop();
foreach ($raws as $i => $redis) {
    wait_for(fn () => client_ids($redis) === [], 60, "the connections to server $i to be closed");
}
echo "done\n";
?>
--EXPECT--
done
