--TEST--
dlock-doctor reports a MySQL or MariaDB without dlock's procedures, with too few connections, a wrong clock, settings that lose locks or refuse writes, or an owner that cannot wake waiters
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
require __DIR__ . '/../inc/doctor.inc';
require __DIR__ . '/../inc/database.inc';

$server = new PrivateMariaDb(['innodb_flush_log_at_trx_commit' => '1', 'max_connections' => '40', 'log_bin' => 'on', 'sysdate_is_now' => '1']);
$dsn = $server->dsn('');
$texts = finds(['tables' => 'problem'], [$dsn], 'no procedures');
hides([PrivateDatabase::PASSWORD], implode($texts), 'the report');
finds([], [$server->dsn('create=1')], 'they are made');
$run = new DoctorRun([$dsn]);
holds((bool) preg_match("/^All is well: DistributedLock on {$server->address()}, MariaDB [\d.]+, round trips from [\d.]+ m?s to [\d.]+ m?s\.\n$/", $run->output), 'one line', $run->output, $run->errors);
finds(['maxclients' => 'warning'], [$dsn, '--workers=20'], 'too few connections for all');
finds(['maxclients' => 'problem'], [$dsn, '--workers=50'], 'too few connections');
$set = fn (string $name, string $value) => $server->query("SET GLOBAL $name = $value");
$set('innodb_flush_log_at_trx_commit', '2');
finds(['durability' => 'warning'], [$dsn], 'a crash loses commits');
$set('innodb_flush_log_at_trx_commit', '1');
$set('binlog_format', "'STATEMENT'");
$texts = finds(['binlog' => 'problem'], [$dsn], 'writes are refused');
$set('binlog_format', "'MIXED'");

// The application's user is not the owner, and the owner may not wake sessions.
$server->query("CREATE USER app@'%' IDENTIFIED BY 's3cret'");
$server->query("GRANT EXECUTE ON shop.* TO app@'%'");
$server->query("GRANT SELECT ON mysql.* TO app@'%'");
$app = $server->dsn('', 'app:s3cret');
finds([], [$app], 'rights of an application');
$set('init_connect', "'SET timestamp = 1000'"); // applies to all users except administrators
finds(['clock' => 'warning'], [$app], 'a clock that is wrong');
$set('init_connect', "''");
$server->query("REVOKE ALL ON *.* FROM admin@'%'");
$server->query("GRANT ALL ON shop.* TO admin@'%'");
finds(['wakes' => 'warning'], [$app], 'the owner wakes nobody');
$server->query("REVOKE SELECT ON mysql.* FROM app@'%'");
$server->query("REVOKE EXECUTE ON shop.* FROM app@'%'");
$server->query("GRANT SELECT ON shop.* TO app@'%'");
finds(['tables' => 'problem'], [$app], 'no right to call them');
$server->query("GRANT ALL ON *.* TO admin@'%'");

$texts = finds(['unreachable' => 'problem'], ['mysql://admin:no@' . $server->address() . '/shop'], 'a wrong password');
holds(str_contains($texts['unreachable'] ?? '', 'Access denied'), 'a wrong password', $texts);
finds(['unreachable' => 'problem'], ['mysql://admin:no@127.0.0.1:' . closed_port() . '/shop'], 'nobody there');
$set('read_only', '1');
$texts = finds(['unreachable' => 'problem'], [$dsn], 'a replica');
holds(str_contains($texts['unreachable'] ?? '', 'is read-only'), 'a replica', $texts);
echo "done\n";
?>
--EXPECT--
done
