--TEST--
dlock-doctor reports Redis servers that are out of reach, silent, slow, or several behind one address
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

$kept = ['appendonly yes', 'appendfsync always'];
$server = redis_private($kept);
$other = redis_private($kept);

$closed = '127.0.0.1:' . closed_port();
$texts = finds(['unreachable' => 'problem'], ["redis://$closed"], 'a closed port');
holds(str_contains($texts['unreachable'] ?? '', "$closed cannot be reached: Connection refused"), 'a closed port', $texts);
finds(['unreachable' => 'problem'], ["unix://$server->dir/none.sock"], 'no socket');
$texts = finds(['unreachable' => 'problem'], ['redis://' . zk_hosts() . '?read_timeout=2'], 'no Redis');

// Programs that answer every line with the same text.
$odd = ["+OK\r\n", ":7\r\n", "\$-1\r\n", "*0\r\n", "*2\r\n:1\r\n*0\r\n", "*1000000000\r\n", "\$1000000000\r\n", "\$-9\r\n", str_repeat("*1\r\n", 100), "\r\n", "HTTP/1.1 400\r\n"];
foreach ($odd as $answer) {
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $parrot = fork_child(function () use ($listener, $answer) {
        while ($client = stream_socket_accept($listener, 60)) {
            while (fread($client, 4096) !== '' && @fwrite($client, $answer)) {
            }
        }
    });
    foreach (['redis://%s', 'sentinel://%s/x', 'cluster://%s'] as $form) {
        $run = doctor([sprintf($form, stream_socket_get_name($listener, false)) . '?read_timeout=1']);
        same([2, ''], [$run->status, $run->errors], json_encode($answer) . " $form");
    }
    $parrot->kill();
}

// A server's answer is no command to a terminal.
$listener = stream_socket_server('tcp://127.0.0.1:0');
$parrot = fork_child(function () use ($listener) {
    while ($client = stream_socket_accept($listener, 60)) {
        while (fread($client, 4096) !== '' && @fwrite($client, "-ERR \e[2Jred\x07 \xc2\x9b31m\xff\r\n")) {
        }
    }
});
$run = new DoctorRun(['redis://' . stream_socket_get_name($listener, false)]);
holds(str_contains($run->output, 'ERR \\x1b[2Jred\\x07') && !preg_match('/[^\n -~]/', $run->output), 'no control characters', $run->output);
$parrot->kill();

$server->pause();
$texts = finds(['unreachable' => 'problem'], [$server->dsn() . '?read_timeout=0.2'], 'a stopped server');
holds(str_contains($texts['unreachable'] ?? '', 'does not answer within 200 ms'), 'a stopped server', $texts);
$server->resume();

$way = relay($server->address(), 0.06);
$slow = $way->address();
$texts = finds(['slow' => 'warning'], ["redis://$slow"], 'a slow way');
holds((bool) preg_match('/round trips take 1[2-9]\d(\.\d)? ms at best/', $texts['slow'] ?? ''), 'a slow way', $texts);
$server->pause();
$waking = fork_child(function () use ($server) {
    pause(8);
    $server->resume();
});
$texts = finds(['slow' => 'warning'], [$server->dsn() . '?read_timeout=20'], 'an answer that is late');
holds((bool) preg_match('/took \d(\.\d+)? s for an answer .* the read timeout is 20 s/', $texts['slow'] ?? ''), 'an answer that is late', $texts);
$waking->result();

$balancer = relay([$server->address(), $other->address()]);
finds(['balancer' => 'problem'], ['redis://' . $balancer->address()], 'two servers behind one address');
$quick = relay($server->address());
finds([], ['redis://' . $quick->address()], 'a quick way');
echo "done\n";
?>
--EXPECT--
done
