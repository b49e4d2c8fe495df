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
$locks = new DistributedLock($server->dsn('create=1&guard=300'), ttl: 280);
$thrown = Dlock\AcquireTimeoutException::class;
for ($attempt = 1; $thrown === Dlock\AcquireTimeoutException::class && $attempt <= 10; $attempt++) {
    $relay = relay($server->address());
    $held = $locks->acquire("r$attempt", 0);
    $dsn = str_replace($server->address(), $relay->address(), $server->dsn('guard=300&connect_timeout=5&read_timeout=5'));
    $waiter = fork_child(function (callable $say, callable $hear) use ($dsn, $attempt) {
        $say(get_debug_type(thrown_by(fn () => (new DistributedLock($dsn))->acquire("r$attempt", 4))));
        $hear();
    }, [], 'kill');
    wait_for(fn () => $server->waiters("Lock:r$attempt") !== [] || $waiter->hasSaid(), 60, 'the waiter to be in the queue');

    // From now on the server does not answer, and new connections arrive here. The sign of life is sent after 2 to 2.5
    // s. If the test stands still for that long, it tries again.
    $end = stream_socket_server('tcp://127.0.0.1:0');
    $relay->order(0, ['down' => false, 'target' => stream_socket_get_name($end, false)]);
    $thrown = $waiter->hear();
    $waiter->kill();
}
same(Dlock\ConnectionException::class, $thrown, 'the wait');
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
