--TEST--
MariaDB: an error after the COMMIT, by max_statement_time, leaves no lease that is believed in too long, and no lock without a holder
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

$server = new PrivateMariaDb();
$timeouts = 'guard=300&connect_timeout=60&read_timeout=60';
$other = new DistributedLock($server->dsn("create=1&$timeouts"), ttl: 100, renew: false);
$other->isLocked('r');
$user = $server->applicationUser();
$lock = new DistributedLock($server->dsn($timeouts, $user), ttl: 100, renew: false);
$sql = file_get_contents(dirname(__DIR__, 2) . '/src/database/sql/mysql.sql');
/** After its COMMIT the procedure ends by the error of the server's timer. */
$fail = function (string $procedure, bool $fail) use ($server, $sql) {
    preg_match("/^CREATE PROCEDURE IF NOT EXISTS $procedure\(.*?^END/ms", $sql, $found);
    $text = str_replace('CREATE PROCEDURE IF NOT EXISTS', 'CREATE OR REPLACE PROCEDURE', $found[0]);
    $changed = preg_replace('/COMMIT;(?=\s+SELECT)/', "COMMIT; SIGNAL SQLSTATE '70100' SET MYSQL_ERRNO = 1969, MESSAGE_TEXT = 'Query execution was interrupted (max_statement_time exceeded)';", $text, -1, $count);
    same(1, $count, "$procedure: a COMMIT before the answer");
    $server->query($fail ? $changed : $text);
};
$fails = fn (callable $do, string $what) => fails(Dlock\ConnectionException::class, '*max_statement_time exceeded*', $do, $what);

$lease = $lock->acquire('r', 0);
$fail('dlock_extend_1', true);
$fails(fn () => $lease->refresh(50), 'a renewal that shortens the lease');
holds($server->grant('Lock:r')['left'] <= 50 && $lease->remaining() <= 50, 'it may have been committed', $lease->remaining());
$fail('dlock_extend_1', false);
same(true, $lease->release(), 'release()');

$fail('dlock_acquire_1', true);
$fails(fn () => $lock->acquire('r', 0), 'a grant that is not heard of');
$fail('dlock_acquire_1', false);
same(true, $other->acquire('r', 60)->release(), 'a lock that no client knows of is given back');
echo "done\n";
?>
--EXPECT--
done
