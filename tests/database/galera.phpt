--TEST--
MariaDB: a node that has no majority of its Galera cluster is left for the next host, by those who ask, who wait and who hold; a lone one is waited for
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

use Dlock\ConnectionException;

$node = new PrivateMariaDb(['wsrep_on' => 'ON', 'wsrep_provider' => '/usr/lib/galera/libgalera_smm.so', 'wsrep_cluster_address' => 'gcomm://',
    'wsrep_provider_options' => 'gmcast.listen_addr=tcp://127.0.0.1:0', 'binlog_format' => 'ROW']);
$other = new PrivateMariaDb();
same('ON', $node->query("SHOW STATUS LIKE 'wsrep_ready'")[0]['Value'], 'a node of a Galera cluster');
foreach ([$node, $other] as $server) {
    same([true], fork_run(1, fn () => (new DistributedLock($server->dsn()))->lock('made', 0)), 'tables');
    wait_for(fn () => $server->sessions() === [], 60, 'the end of that session');
}
$options = 'guard=300&connect_timeout=60&read_timeout=60';
$alone = new DistributedLock($node->dsn($options));
$dsn = str_replace($node->address(), "{$node->address()},{$other->address()}", $node->dsn($options));
$lock = new DistributedLock($dsn, ttl: 100);
$held = $lock->acquire('held', 0);
same(true, $alone->lock('alone', 0), 'the node');
$waiter = database_holder($dsn, 'held', 100, 120);
wait_for(fn () => $node->waiters('Lock:held') !== [], 60, 'the waiter to be in the queue');
same([], $other->sessions(), 'sessions with the other host');

$node->query('SET GLOBAL wsrep_reject_queries = ALL'); // a node without a majority refuses statements by the same error
same(true, $lock->acquire('next', 0)->release(), 'meanwhile');
holds($other->sessions() !== [], 'the other host is asked');
holds($waiter->hear() > 0, 'the waiter has the lock on the other host');
$waiter->say(null);
same(true, $waiter->result(), 'its release()');
fails(Dlock\LeaseLostException::class, '*', fn () => $held->refresh(), 'the other host, which is not of the cluster, has no such lease');
fails(ConnectionException::class, "*{$node->address()}: WSREP has not yet prepared node for application use: its Galera cluster has no majority",
    fn () => $alone->acquire('alone-2', 0), 'the node alone');
fails(ConnectionException::class, '*WSREP*', fn () => (new DistributedLock($node->dsn('connect_timeout=61')))->lock('new', 0), 'a new session with the node alone');

$waiter = database_holder($node->dsn($options), 'alone-3', 100, 120);
$node->query('SET GLOBAL wsrep_reject_queries = NONE');
holds($waiter->hear() > 0, 'a waiter without another host has the lock once the node has a majority');
$waiter->say(null);
same(true, $waiter->result(), 'its release()');
same(true, $alone->acquire('alone-4', 0)->release(), 'an object that names only the node');
echo "done\n";
?>
--EXPECT--
done
