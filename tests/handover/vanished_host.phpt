--TEST--
A hundred waiters whose host vanished delay the others by the time of one grant in all
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_networks();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/cable.inc';

$dir = temporary_directory();
$cable = new Cable();
$redis = $cable->redis;
$resource = unique();
$queued = fn () => $redis->cmd('ZCARD', Locks::queue($resource));
$manager = fn () => new DistributedLock($cable->dsn);
$lease = $manager()->acquire($resource, 0, 1000);

$cable->host('
    for ($i = 0; $i < 100; $i++) {
        if (pcntl_fork() === 0) {
            (new DistributedLock("redis://$argv[1]?connect_timeout=10&read_timeout=10"))->acquire($argv[2], 600, 10);
            exit;
        }
    }
    fgets(STDIN);
', Cable::ADDRESS, $resource);
wait_for(fn () => $queued() === 100, 60, '100 in the queue ' . $cable->errors());

$live = $keepers = [];
for ($i = 0; $i < 5; $i++) {
    $live[] = $child = fork_child(function (callable $say, callable $hear) use ($manager, $resource, $dir) {
        $lease = $manager()->acquire($resource, 60, 100);
        $at = now();
        enter("$dir/gate");
        $say($at);
        $hear();
        leave("$dir/gate");
        return $lease->release();
    });
    at_end($child->kill(...));
    wait_for(fn () => $queued() === 101 + $i, 60, 'the others in the queue');
    $keepers[] = keep_alive([$cable->dsn], Locks::key($resource), only: $redis->cmd('ZRANGE', Locks::queue($resource), -1, -1));
}

// No packet arrives any more, so no connection is closed.
$down = now();
$cable->at_host('ip link set cable down');
$start = now();
same(true, $lease->release(), 'the holder');
$took = now() - $down;
$times = [];
foreach ($live as $i => $child) {
    $times[] = $child->hear(60) - $start;
    $child->say('release');
    same(true, $child->result(), "release() of live waiter $i");
}
// The server still believed in all of them: otherwise this test would test nothing.
preg_match_all('/^id=.* addr=' . preg_quote(Cable::HOST) . ':.*$/m', $redis->cmd('CLIENT', 'LIST'), $clients);
same(200, count($clients[0]), 'connections of the vanished host');
// The first of them costs one grant of 3 s, and no other does: by then all of them have been silent for too long.
within($took < 0.7 ? 2 : 0, $times[0], SOON, 'seconds until the first of the others holds');
within(0, end($times) - $times[0], SOON, 'seconds until the last of the others holds');
wait_for(fn () => $queued() === 0, 60, 'the queue to be empty');
$cable->kill_host();
echo "done\n";
?>
--EXPECT--
done
