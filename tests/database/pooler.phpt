--TEST--
dlock refuses PostgreSQL behind PgBouncer, in each of its modes, with a message that says why
--EXTENSIONS--
pdo
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
is_executable('/usr/sbin/pgbouncer') || die('skip needs the Debian package pgbouncer');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

/** PgBouncer in front of a server. */
final class PrivatePgBouncer extends PrivateServer
{
    public function __construct(private readonly PrivatePostgres $server, private readonly string $lines)
    {
        parent::__construct('pgbouncer', 60);
    }

    protected function command(int $port): array
    {
        chmod($this->dir, 0755);
        file_put_contents("$this->dir/users", '"admin" "' . PrivateDatabase::PASSWORD . "\"\n");
        file_put_contents("$this->dir/ini", "[databases]\n* = host=127.0.0.1 port={$this->server->port}\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=$port\n"
            . "auth_type=scram-sha-256\nauth_file=$this->dir/users\nunix_socket_dir=\n$this->lines\n");
        return [...as_server_user(), '/usr/sbin/pgbouncer', "$this->dir/ini"];
    }

    protected function isReady(int $port): bool
    {
        return str_contains((string) @file_get_contents("$this->dir/log"), 'process up');
    }
}

$server = new PrivatePostgres();
same(true, (new DistributedLock($server->dsn('create=1&connect_timeout=60&read_timeout=60')))->lock('r', 0), 'the server itself');
// Without the line PgBouncer refuses dlock's startup parameters; with it, dlock sees the pooler.
foreach (['session', 'transaction', 'statement'] as $mode) {
    foreach (["pool_mode=$mode", "pool_mode=$mode\nignore_startup_parameters=options"] as $lines) {
        $pooler = new PrivatePgBouncer($server, $lines);
        $dsn = str_replace($server->address(), $pooler->address(), $server->dsn('create=1&connect_timeout=60&read_timeout=60'));
        fails(Dlock\ConnectionException::class, 'PostgreSQL at ' . $pooler->address() . ': *a pooler is in front of it, but waiting needs a session of its own: connect to the server',
            fn () => (new DistributedLock($dsn))->lock('r', 0), $lines);
    }
}
echo "done\n";
?>
--EXPECT--
done
