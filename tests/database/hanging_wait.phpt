--TEST--
PostgreSQL: a wait whose last sign of life is not answered ends after one more connection, and no other attempt
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

$server = new PrivatePostgres();
$relay = relay($server->address());
$held = (new DistributedLock($server->dsn(), ttl: 10))->acquire('r', 0);
$dsn = str_replace($server->address(), $relay->address(), $server->dsn('connect_timeout=5&read_timeout=5'));
$waiter = fork_child(function (callable $say, callable $hear) use ($dsn) {
    $say(get_debug_type(thrown_by(fn () => (new DistributedLock($dsn))->acquire('r', 4))));
    $hear();
}, [], 'kill');
wait_for(fn () => $server->waiters('Lock:r') !== [], 60, 'the waiter to be in the queue');

// From now on the server does not answer, and new connections arrive here. The sign of life is sent after 2 to 2.5 s.
$end = stream_socket_server('tcp://127.0.0.1:0');
$relay->order(0, ['down' => false, 'target' => stream_socket_get_name($end, false)]);
same(Dlock\ConnectionException::class, $waiter->hear(), 'the wait');
$waiter->kill();
fwrite(stream_socket_client("tcp://{$relay->address()}"), $mark = 'the last connection');
$connections = 0;
while (!str_contains((string) stream_get_contents($accepted = stream_socket_accept($end, 60), strlen($mark)), $mark)) {
    $connections++;
}
same(2, $connections, 'new connections: one repeats the sign of life, one gives back what may have been granted');
echo "done\n";
?>
--EXPECT--
done
