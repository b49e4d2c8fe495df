--TEST--
Databases: if the server accepts no more connections, the caller is told, and a lease whose renewal gets no connection is lost in time
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

$servers = ['pgsql' => new PrivatePostgres(['max_connections' => '24', 'superuser_reserved_connections' => '3']), 'mysql' => new PrivateMariaDb(['max_connections' => '20'])];
foreach ($servers as $kind => $server) {
    $options = 'guard=300&connect_timeout=60&read_timeout=60';
    (new DistributedLock($server->dsn("create=1&$options")))->isLocked('r'); // creates the tables
    $dsn = $server->dsn($options, $server->applicationUser());
    $connect = fn () => new PDO($kind === 'pgsql' ? "pgsql:host=127.0.0.1;port=$server->port;dbname=postgres" : "mysql:host=127.0.0.1;port=$server->port;dbname=shop", 'app', PrivateDatabase::PASSWORD, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    $open = [];
    $fill = function () use ($connect, &$open) {
        while (thrown_by(function () use ($connect, &$open) { $open[] = $connect(); }) === null);
    };

    // ---- the lock itself has the last connection ----
    $fill();
    array_pop($open);
    $lease = wait_for(function () use ($dsn, &$lock) { // the server frees the place a moment later
        try {
            $lock = new DistributedLock($dsn, ttl: 100);
            return $lock->acquire('r', 0);
        } catch (Dlock\ConnectionException) {
            return null;
        }
    }, 60, "$kind: the last connection");
    $fill();
    $child = fork_child(fn () => thrown_by(fn () => (new DistributedLock($dsn))->acquire('r', 60))?->getMessage(), [], 'kill');
    holds(str_contains((string) $message = $child->result(), ': raise max_connections; each process that locks has one, and one more'), "$kind: another process", $message);
    thrown_by(fn () => $lease->refresh(6)); // from now on it is renewed each two seconds
    wait_for(fn () => !$lease->isHeld(), 60, "$kind: the end of a lease whose renewal has no connection");
    same([Dlock\LeaseState::Lost, false], [$lease->state(), $lease->release()], "$kind: it is lost");

    // ---- there is room again ----
    $open = [];
    wait_for(fn () => thrown_by(fn () => $lock->acquire('r', 60)->release()) === null, 60, "$kind: as before");
}
echo "done\n";
?>
--EXPECT--
done
