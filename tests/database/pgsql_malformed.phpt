--TEST--
PostgreSQL: answers of an unexpected form end the session; the process neither crashes nor hangs
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

function message(string $type, string $body = ''): string
{
    return $type . pack('N', 4 + strlen($body)) . $body;
}

/** @param list<string> $values */
function row(array $values): string
{
    $columns = $row = '';
    foreach ($values as $value) {
        $columns .= "c\0" . pack('NnNnNn', 0, 0, 25, 0xffff, 0xffffffff, 0);
        $row .= pack('N', strlen($value)) . $value;
    }
    return message('T', pack('n', count($values)) . $columns) . message('D', pack('n', count($values)) . $row);
}

/**
 * A server that lets each client log in, answers its first query, and then each call (what ends with a Sync). It ends
 * with the process $parent, which may crash.
 */
function serve($listener, int $parent, string $to_setup, string $to_call): void
{
    $ready = message('Z', 'I');
    $parameters = ['server_version' => '15.0', 'client_encoding' => 'UTF8', 'in_hot_standby' => 'off', 'default_transaction_read_only' => 'off'];
    $login = message('R', pack('N', 0));
    foreach ($parameters as $name => $value) {
        $login .= message('S', "$name\0$value\0");
    }
    while (posix_getppid() === $parent) {
        if (!$client = @stream_socket_accept($listener, 1)) {
            continue;
        }
        $read = fn (int $length) => $length > 0 ? (string) stream_get_contents($client, $length) : '';
        $read(unpack('N', $read(4))[1] - 4);
        fwrite($client, $login . message('K', pack('NN', 4711, 1)) . $ready);
        while (($type = $read(1)) !== '') {
            $read(unpack('N', $read(4))[1] - 4);
            match ($type) {
                'Q' => fwrite($client, $to_setup . $ready),
                'S' => fwrite($client, message('1') . message('2') . $to_call . $ready),
                default => null,
            };
        }
    }
}

$end = message('C', "SELECT 1\0");
$setup = row(['4711', 't']) . $end;
$copies = ['copy in' => message('G', "\0" . pack('n', 0)), 'copy out' => message('H', "\0" . pack('n', 0))];
$cases = [
    'set-up: no row' => [message('T', pack('n', 0)) . $end, ''],
    'set-up: a row without columns' => [row([]) . $end, ''],
    'set-up: one column' => [row(['4711']) . $end, ''],
    'call: a row without columns' => [$setup, row([]) . $end],
];
foreach ($copies as $what => $copy) {
    $cases["set-up: $what"] = [$copy, ''];
    $cases["call: $what"] = [$setup, $copy];
}
$parent = getmypid();
foreach ($cases as $what => [$to_setup, $to_call]) {
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $server = fork_child(fn () => serve($listener, $parent, $to_setup, $to_call));
    $lock = new DistributedLock('pgsql://u@' . stream_socket_get_name($listener, false) . '/d?connect_timeout=60&read_timeout=60');
    foreach (['inspect', 'isLocked'] as $method) {
        fails(Dlock\ConnectionException::class, 'PostgreSQL at 127.0.0.1:*: an answer *', fn () => $lock->$method('r'), "$what, $method()");
    }
    $server->kill();
}
echo "done\n";
?>
--EXPECT--
done
