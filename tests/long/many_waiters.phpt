--TEST--
Databases: 200 processes wait for one lock, and hold it one after the other, in the order of their tickets
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

$processes = (int) (getenv('DLOCK_TEST_WAITERS') ?: 200);
$databases = ['pgsql' => fn () => new PrivatePostgres(['max_connections' => '250', 'shared_buffers' => '32MB']), 'mysql' => fn () => new PrivateMariaDb(['max_connections' => '500'])];
foreach ($databases as $kind => $make) {
    $server = $make();
    $dsn = $server->dsn('create=1&guard=600&connect_timeout=300&read_timeout=300');
    $lease = (new DistributedLock($dsn, ttl: 500))->acquire('r', 0);
    $gate = gate();
    $children = [];
    for ($i = 0; $i < $processes; $i++) {
        $children[] = fork_child(function () use ($dsn, $gate) {
            $lease = (new DistributedLock($dsn, ttl: 100))->acquire('r', 600);
            enter($gate);
            leave($gate);
            return [$lease->token, $lease->fencingToken, $lease->release()];
        }, [], 'kill');
    }
    wait_for(fn () => count($server->waiters('Lock:r')) === $processes, 300, "$kind: all to wait");
    $queue = array_column($server->waiters('Lock:r'), 'token');
    same(true, $lease->release(), "$kind: release()");
    $had = array_map(fn ($child) => $child->result(600), $children);
    usort($had, fn ($a, $b) => $a[1] <=> $b[1]);
    same(array_fill(0, $processes, true), array_column($had, 2), "$kind: each had it");
    same($queue, array_column($had, 0), "$kind: in the order of the queue");
    unset($server);
}
echo "done\n";
?>
--EXPECT--
done
