<?php
/* What prevents locks in PostgreSQL, now or under load. */
declare(strict_types=1);

namespace Dlock\Doctor;

require_once __DIR__ . '/server.php';

const LEAST_POSTGRES = 120000;

/** Minutes after which a transaction counts as long. */
const LONG_TRANSACTION = 10;

Subjects::add(PostgresServer::class, examine_pgsql_settings(...), ['logged', 'pooler', 'snapshot', 'tables', 'version']);

final class PostgresServer extends DatabaseServer
{
    protected function obstacle(\PDO $pdo): ?string
    {
        return $pdo->query('SELECT pg_is_in_recovery()')->fetchColumn() === true ? 'is a standby' : null;
    }

    protected function hasVersion(): bool
    {
        $this->version = preg_replace('/ .*/', '', (string) $this->ask('SHOW server_version'));
        if ((int) $this->ask('SHOW server_version_num') < LEAST_POSTGRES) {
            $this->unusable('version', "is PostgreSQL $this->version.", 'dlock needs 12 or later.', 'Upgrade it.');
            return false;
        }
        return true;
    }

    protected function connect(string $host, int $port): \PDO
    {
        $tls = $this->spec['tls'];
        $mode = $tls === null ? 'disable' : (!$tls['verify_peer'] ? 'require' : ($tls['verify_peer_name'] ? 'verify-full' : 'verify-ca'));
        $options = ['host' => $host, 'port' => $port, 'dbname' => $this->spec['database'], 'sslmode' => $mode, 'application_name' => 'dlock-doctor',
            'connect_timeout' => max(2, (int) ceil($this->spec['connect_timeout'])),
            'sslrootcert' => $mode === 'verify-full' || $mode === 'verify-ca' ? $tls['cafile'] ?? '/etc/ssl/certs/ca-certificates.crt' : null,
            'sslcert' => $tls['local_cert'] ?? null, 'sslkey' => $tls['local_pk'] ?? $tls['local_cert'] ?? null];
        $options = array_filter($options, fn ($value) => $value !== null);
        $dsn = 'pgsql:' . implode(';', array_map(fn ($name, $value) => "$name='" . addcslashes((string) $value, "'\\") . "'", array_keys($options), $options));
        return new \PDO($dsn, $this->spec['user'], $this->spec['password'], [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION]);
    }
}

function examine_pgsql_settings(PostgresServer $server): void
{
    if ($server->pdo->pgsqlGetPid() !== (int) $server->ask('SELECT pg_backend_pid()')) {
        $server->unusable('pooler', 'is behind a pooler.', 'A waiter needs a session of its own, and dlock refuses to share one.', 'Give the address of the server itself.');
        return;
    }
    examine_pgsql_tables($server);
    $server->examineConnections((int) $server->ask('SHOW max_connections'), 2, 'two (locks, renewal)');
    $minutes = (int) $server->ask("SELECT extract(epoch FROM max(clock_timestamp() - xact_start)) / 60 FROM pg_stat_activity WHERE backend_xmin IS NOT NULL");
    if ($minutes >= LONG_TRANSACTION) {
        $server->warning('snapshot', "has a transaction that is open for $minutes min.", 'It keeps dead rows of all tables from being removed.',
            'Find it in pg_stat_activity, and end it.');
    }
}

function examine_pgsql_tables(PostgresServer $server): void
{
    $schema = $server->spec['schema'];
    $kind = $server->ask('SELECT c.relpersistence FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = ? AND c.relname = ?', [$schema, 'locks']);
    if ($kind === null && !$server->spec['create']) {
        $server->unusable('tables', "has no tables of dlock in the schema $schema.", 'Locks cannot be acquired there.',
            'Run postgresql.sql there, or add create=1 to the address.');
    } elseif ($kind === 'p') {
        $server->note('logged', 'has dlock\'s tables logged.', 'Each lock costs a write to the disk, and an asynchronous standby may lack the last ones.',
            'ALTER TABLE ' . $schema . '.locks SET UNLOGGED, likewise `waiters` and `era`, unless you need leases to outlast a crash.');
    }
}
