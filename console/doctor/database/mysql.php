<?php
/* What prevents locks in MySQL or MariaDB, now or under load. */
declare(strict_types=1);

namespace Dlock\Doctor;

require_once __DIR__ . '/server.php';

/** Seconds. If a clock is wrong by more, it will be set one day. */
const WRONG_CLOCK = 60;

Subjects::add(MysqlServer::class, examine_mysql_settings(...), ['binlog', 'clock', 'durability', 'galera', 'tables', 'version', 'wakes']);

final class MysqlServer extends DatabaseServer
{
    protected function obstacle(\PDO $pdo): ?string
    {
        return (int) $pdo->query('SELECT @@global.read_only')->fetchColumn() !== 0 ? 'is read-only' : null;
    }

    protected function hasVersion(): bool
    {
        $text = (string) $this->ask('SELECT VERSION()');
        $this->product = str_contains($text, 'MariaDB') ? 'MariaDB' : 'MySQL';
        $this->version = preg_replace('/-.*/', '', $text);
        $least = $this->product === 'MariaDB' ? '10.6' : '8.0.29';
        if (version_compare($this->version, $least, '<')) {
            $this->unusable('version', "is $this->product $this->version.", "dlock needs $least or later.", 'Upgrade it.');
            return false;
        }
        return true;
    }

    protected function connect(string $host, int $port): \PDO
    {
        $tls = $this->spec['tls'];
        $options = $tls === null ? [] : array_filter([
            \PDO::MYSQL_ATTR_SSL_CA => $tls['cafile'] ?? '/etc/ssl/certs/ca-certificates.crt',
            \PDO::MYSQL_ATTR_SSL_CERT => $tls['local_cert'] ?? null,
            \PDO::MYSQL_ATTR_SSL_KEY => $tls['local_pk'] ?? $tls['local_cert'] ?? null,
        ]) + [\PDO::MYSQL_ATTR_SSL_VERIFY_SERVER_CERT => $tls['verify_peer'] && $tls['verify_peer_name']];
        $where = $this->spec['path'] !== null ? "unix_socket=$host" : "host=$host;port=$port";
        return new \PDO("mysql:$where;dbname=" . $this->spec['database'], $this->spec['user'], $this->spec['password'],
            $options + [\PDO::ATTR_ERRMODE => \PDO::ERRMODE_EXCEPTION, \PDO::ATTR_TIMEOUT => max(1, (int) ceil($this->spec['connect_timeout']))]);
    }
}

function examine_mysql_settings(MysqlServer $server): void
{
    $definer = $server->ask("SELECT definer FROM information_schema.routines WHERE routine_schema = DATABASE() AND routine_name = 'dlock_acquire_1'");
    if ($definer === null && !$server->spec['create']) {
        $server->unusable('tables', 'has no procedures of dlock in this database, or this user may not call them.', 'Locks cannot be acquired there.',
            'Run mysql.sql there, or add create=1 to the address; then GRANT EXECUTE on the database to the user.');
    } elseif ($definer !== null) {
        examine_mysql_owner($server, $definer);
    }
    if ((int) $server->ask('SELECT @@log_bin') !== 0 && $server->ask('SELECT @@global.binlog_format') === 'STATEMENT') {
        $server->unusable('binlog', 'writes statements to its binary log (binlog_format).', 'With dlock\'s isolation level, READ COMMITTED, it then refuses all writes.',
            'Set binlog_format to ROW or MIXED.');
    }
    if ((int) $server->ask('SELECT @@global.innodb_flush_log_at_trx_commit') !== 1) {
        $server->warning('durability', 'does not flush its log at each commit (innodb_flush_log_at_trx_commit).', 'After a crash it may have forgotten locks that are still relied on.',
            'Set it to 1.');
    }
    if ($server->ask("SHOW GLOBAL VARIABLES LIKE 'wsrep_on'", column: 1) === 'ON') {
        $server->note('galera', 'is a node of a Galera cluster.', 'While sessions use different nodes, no lock is granted.',
            'Name one node, or a proxy that ends connections to the old writer when it turns to another.');
    }
    $wrong = abs((float) $server->ask('SELECT UNIX_TIMESTAMP(SYSDATE(6))') - microtime(true));
    if ($wrong > WRONG_CLOCK) {
        $server->warning('clock', sprintf('has a clock that differs from this host\'s by %d s.', $wrong), 'When a clock is set forward, leases end too early.',
            'Let it be corrected slowly (chrony, ntpd).');
    }
    $server->examineConnections((int) $server->ask('SELECT @@max_connections'), 3, 'three (locks, waiting, renewal)');
}

/** Waiters are woken with the rights of the procedures' owner. */
function examine_mysql_owner(MysqlServer $server, string $definer): void
{
    if ($definer === $server->ask('SELECT CURRENT_USER()')) {
        return;
    }
    [$user, $host] = [substr($definer, 0, (int) strrpos($definer, '@')), substr(strrchr($definer, '@'), 1)];
    try {
        $grants = $server->pdo->query('SHOW GRANTS FOR ' . $server->pdo->quote($user) . '@' . $server->pdo->quote($host))->fetchAll(\PDO::FETCH_COLUMN);
    } catch (\PDOException) { // this user may not read them
        return;
    }
    if (!preg_match('/\b(ALL PRIVILEGES|SUPER|CONNECTION[ _]ADMIN)\b.* ON \*\.\*/', implode("\n", $grants))) {
        $server->warning('wakes', "has procedures of dlock whose owner, $definer, may not wake sessions of other users.", 'Waiters learn up to 2.5 s late that a lock is free.',
            "GRANT CONNECTION ADMIN ON *.* TO the owner (MySQL: CONNECTION_ADMIN).");
    }
}
