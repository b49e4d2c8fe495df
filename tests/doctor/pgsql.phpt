--TEST--
dlock-doctor reports a PostgreSQL without dlock's tables, with logged ones, too few connections, long transactions, or a standby
--EXTENSIONS--
pdo
pdo_pgsql
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

$server = new PrivatePostgres(['max_connections' => '30']);
$dsn = $server->dsn('');
$texts = finds(['tables' => 'problem'], [$dsn], 'no tables');
hides([PrivateDatabase::PASSWORD], implode($texts), 'the report');
finds([], [$server->dsn('create=1')], 'they are made');
$run = new DoctorRun([$dsn]);
holds((bool) preg_match("/^All is well: DistributedLock on {$server->address()}, PostgreSQL [\d.]+, round trips from [\d.]+ m?s to [\d.]+ m?s\.\n$/", $run->output), 'one line', $run->output, $run->errors);
finds(['maxclients' => 'warning'], [$dsn, '--workers=20'], 'too few connections for all');
finds(['maxclients' => 'problem'], [$dsn, '--workers=40'], 'too few connections');
$server->query('ALTER TABLE dlock.locks SET LOGGED');
finds(['logged' => 'note'], [$dsn], 'logged tables');
$server->query('ALTER TABLE dlock.locks SET UNLOGGED');
$texts = finds(['unreachable' => 'problem'], ['pgsql://admin:no@' . $server->address() . '/postgres'], 'a wrong password');
holds(str_contains($texts['unreachable'] ?? '', 'password authentication failed'), 'a wrong password', $texts);
finds(['unreachable' => 'problem'], ['pgsql://admin:no@127.0.0.1:' . closed_port() . '/postgres'], 'nobody there');
$standby = $server->standby();
$texts = finds(['unreachable' => 'problem'], [$standby->dsn('')], 'a standby');
holds(str_contains($texts['unreachable'] ?? '', 'is a standby'), 'a standby', $texts);
finds([], ['pgsql://admin:' . rawurlencode(PrivateDatabase::PASSWORD) . "@{$standby->address()},{$server->address()}/postgres"], 'both');
$server->crash();
$server->restart();
$texts = finds(['unsettled' => 'warning'], [$dsn], 'after a crash');
echo "done\n";
?>
--EXPECT--
done
