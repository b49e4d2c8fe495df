--TEST--
A server that has stopped or is gone does not delay the end of a process
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// A process would wait for half a minute for each answer of these servers if its end were not bounded: 0.1 s in all by
// default.
$servers = [redis_private(), redis_private(), redis_private()];
$dsns = array_map(fn ($server) => "{$server->dsn()}?read_timeout=30&connect_timeout=30", $servers);

foreach ($servers as $server) {
    (new DistributedLock($server->dsn()))->acquire('warm')->release(); // the servers learn the scripts
}

foreach (['stopped' => 'pause', 'gone' => 'kill'] as $what => $fate) {
    $children = [];
    foreach (array_keys(ways_to_hold()) as $way) {
        foreach (['the end of the script' => '', 'exit' => 'exit(0);', 'an exception' => 'throw new Exception();'] as $end => $code) {
            $children["$way, $end"] = holder($way, unique("$what $way $end"), $code, '', $dsns[0], $dsns);
        }
    }
    array_map(fn ($server) => $server->$fate(), $servers);
    foreach ($children as $name => $child) {
        $time = seconds(function () use ($child) {
            $child->writeLine('end');
            $child->wait(60);
        });
        within(0, $time, SOON, "$name, with servers $what");
    }
    if ($fate === 'pause') {
        // When the servers continue, they execute what was sent to them before.
        array_map(fn ($server) => $server->resume(), $servers);
        foreach ($servers as $server) {
            $redis = $server->raw();
            wait_for(fn () => array_diff($redis->cmd('KEYS', '*'), ['dlock:fence']) === [], 60, 'the locks to be released');
        }
    }
}

// One of three servers has stopped: the others receive the release.
$servers = [redis_private(), redis_private(), redis_private()];
$dsns = array_map(fn ($server) => "{$server->dsn()}?read_timeout=30", $servers);
$child = holder('RedLock::lock()', 'minority', '', '', $dsns[0], $dsns);
$servers[1]->pause();
$child->writeLine('end');
within(0, seconds(fn () => $child->wait(60)), SOON, 'with one of three stopped');
wait_until_gone($servers[0]->raw(), 'minority');
wait_until_gone($servers[2]->raw(), 'minority');

// A setting changes the bound.
$server = redis_private();
$child = holder('DistributedLock::lock()', 'bound', '', '-d dlock.shutdown_timeout=2', "{$server->dsn()}?read_timeout=30");
$server->pause();
$child->writeLine('end');
within(2, seconds(fn () => $child->wait(60)), SOON, 'with dlock.shutdown_timeout=2');
echo "done\n";
?>
--EXPECT--
done
