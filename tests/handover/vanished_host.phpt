--TEST--
A hundred waiters whose host vanished delay the others by the time of one grant in all
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');

is_executable('/usr/sbin/ip') || is_executable('/sbin/ip') || is_executable('/usr/bin/ip') || is_executable('/bin/ip') || die('skip needs ip (Debian package iproute2)');
exec('unshare -n true 2>/dev/null', $output, $code);
$code === 0 || die('skip needs CAP_SYS_ADMIN, for network namespaces');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

// The server and the host that vanishes have a network namespace each, with a cable between them; they end with their
// processes. The waiters that stay reach the server by its unix socket, so nothing is done to this machine's own network.
function run(string $command): string
{
    exec("PATH=\$PATH:/usr/sbin:/sbin $command 2>&1", $output, $code);
    return $code === 0 ? implode("\n", $output) : throw new RuntimeException("$command: " . implode("\n", $output));
}

$dir = temporary_directory();
$server = start_server(['unshare', '-n', redis_program(), '--bind', '0.0.0.0', '--protected-mode', 'no', '--port', '6379', '--unixsocket', "$dir/s",
    '--save', '', '--dir', $dir, '--maxclients', '1000'], "$dir/log");
at_end(function () use ($server) {
    proc_terminate($server, SIGKILL);
    proc_close($server);
});
$serverPid = proc_get_status($server)['pid'];
// The socket is there a moment before it takes connections.
$redis = wait_for(function () use ($dir) {
    try {
        return new RedisRaw("unix://$dir/s");
    } catch (RuntimeException) {
        return null;
    }
}, 20, 'the server');
$resource = unique();
$queued = fn () => $redis->cmd('ZCARD', Locks::queue($resource));
$manager = fn () => new DistributedLock("unix://$dir/s");
$lease = $manager()->acquire($resource, 0, 1000);

file_put_contents("$dir/host.php", '<?php
    fgets(STDIN);
    for ($i = 0; $i < 100; $i++) {
        if (pcntl_fork() === 0) {
            (new DistributedLock("redis://10.99.99.1?connect_timeout=10&read_timeout=10"))->acquire($argv[1], 600, 10);
            exit;
        }
    }
    fgets(STDIN);
');
$php = escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY);
$host = proc_open("exec setpriv --pdeathsig KILL unshare -n $php " . php_options() . " -f $dir/host.php -- $resource",
    [['pipe', 'r'], ['file', "$dir/host.log", 'w'], ['redirect', 1]], $pipes);
$hostPid = proc_get_status($host)['pid'];
$kill = function () use ($host, $hostPid) {
    if (is_resource($host)) {
        foreach (preg_split('/\s+/', (string) @file_get_contents("/proc/$hostPid/task/$hostPid/children"), -1, PREG_SPLIT_NO_EMPTY) as $pid) {
            posix_kill((int) $pid, SIGKILL);
        }
        proc_terminate($host, SIGKILL);
        proc_close($host);
    }
};
at_end($kill);
$ownNet = readlink('/proc/self/ns/net');
wait_for(fn () => !in_array(@readlink("/proc/$hostPid/ns/net"), [false, $ownNet], true), 20, 'the namespace of the host');
run("nsenter -t $serverPid -n ip link add cable type veth peer name cable netns $hostPid");
foreach ([$serverPid => '10.99.99.1/30', $hostPid => '10.99.99.2/30'] as $pid => $address) {
    run("nsenter -t $pid -n ip addr add $address dev cable");
    run("nsenter -t $pid -n ip link set cable up");
}
fwrite($pipes[0], "go\n");
wait_for(fn () => $queued() === 100, 60, '100 in the queue ' . file_get_contents("$dir/host.log"));

$live = [];
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
    wait_for(fn () => $queued() === 101 + $i, 20, 'the others in the queue');
}

// The cable is cut: no packet gets through any more, so no connection is closed.
run("nsenter -t $hostPid -n ip link set cable down");
$start = now();
same(true, $lease->release(), 'the holder');
$times = [];
foreach ($live as $i => $child) {
    $times[] = $child->hear(60) - $start;
    $child->say('release');
    same(true, $child->result(), "release() of live waiter $i");
}
// The server still believed in all of them: otherwise this test tests nothing.
preg_match_all('/^id=.* addr=10\.99\.99\.2:.*$/m', $redis->cmd('CLIENT', 'LIST'), $clients);
same(200, count($clients[0]), 'connections of the vanished host');
// One grant of 3 s is lost on the first of them, and not a second one; then all of them have given no sign of life for too long.
within(2, $times[0], 5.9, 'seconds until the first of the others holds');
within(0, end($times) - $times[0], 1.5, 'seconds until the last of the others holds');
wait_for(fn () => $queued() === 0, 20, 'the queue to be empty');
$kill();
echo "done\n";
?>
--EXPECT--
done
