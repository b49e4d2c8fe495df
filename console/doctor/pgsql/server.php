<?php
declare(strict_types=1);

namespace Dlock\Doctor;

const LEAST_POSTGRES = 120000;

/** One PostgreSQL database: the first host that accepts writes, as the extension takes it. */
final class PostgresServer extends Server
{
    public readonly \PDO $pdo;

    /** @param array<string, mixed> $spec see Dlock\describe_server() */
    public function __construct(#[\SensitiveParameter] public readonly array $spec, Plan $plan)
    {
        parent::__construct($spec['label'], $plan);
    }

    public function examine(): void
    {
        try {
            if (!$this->open()) {
                return;
            }
            $this->usable = true;
            $this->version = preg_replace('/ .*/', '', (string) $this->ask('SHOW server_version'));
            if ((int) $this->ask('SHOW server_version_num') < LEAST_POSTGRES) {
                $this->unusable('version', "is PostgreSQL $this->version.", 'dlock needs 12 or later.', 'Upgrade it.');
                return;
            }
            foreach (Subjects::of(self::class) as $examine) {
                $examine($this);
            }
        } catch (\PDOException $e) {
            $this->unusable('unreachable', 'failed: ' . self::reason($e) . '.', 'Locks cannot be taken there.', 'See to the server, and to the rights of its user.');
        }
    }

    /** The first value of the first row; null where there is none. */
    public function ask(string $sql, array $parameters = []): mixed
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute($parameters);
        $value = $statement->fetchColumn();
        return $value === false ? null : $value;
    }

    private function open(): bool
    {
        $hosts = $this->spec['path'] !== null ? [['host' => $this->spec['path'], 'port' => $this->spec['port']]] : $this->spec['seeds'];
        $reasons = [];
        foreach ($hosts as ['host' => $host, 'port' => $port]) {
            try {
                $pdo = $this->connect($host, $port);
                if ($pdo->query('SELECT pg_is_in_recovery()')->fetchColumn() === true) {
                    $reasons[] = "$host:$port is a standby";
                    continue;
                }
                $this->pdo = $pdo;
                return true;
            } catch (\PDOException $e) {
                $reasons[] = self::reason($e);
            }
        }
        $this->unusable('unreachable', 'cannot be used: ' . implode('; ', $reasons) . '.', 'Locks cannot be taken there.',
            'Is it running, on this address, and are user and password right?');
        return false;
    }

    private function connect(string $host, int $port): \PDO
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

    /** In one line. */
    private static function reason(\PDOException $e): string
    {
        return trim(preg_replace(['/^SQLSTATE\[\w+\]( \[\d+\])?:?\s*(General error: )?\d*\s*/', '/\s+/'], ['', ' '], $e->getMessage()));
    }
}
