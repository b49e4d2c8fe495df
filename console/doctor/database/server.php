<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(DatabaseServer::class, fn (DatabaseServer $server) => $server->measureLatency(), ['maxclients', 'slow', 'unreachable']);

/** One database: the first host that accepts writes, as the extension chooses it. */
abstract class DatabaseServer extends Server
{
    /** The product, if an address may lead to several. */
    public ?string $product = null;
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
            if (!$this->hasVersion()) {
                return;
            }
            foreach ([...Subjects::of(static::class), ...Subjects::of(self::class)] as $examine) {
                $examine($this);
            }
        } catch (\PDOException $e) {
            $this->unusable('unreachable', 'failed: ' . self::reason($e) . '.', 'Locks cannot be acquired there.', 'See to the server, and to the rights of its user.');
        }
    }

    /** The value of that column in the first row; null: there is no row. */
    public function ask(string $sql, array $parameters = [], int $column = 0): mixed
    {
        $statement = $this->pdo->prepare($sql);
        $statement->execute($parameters);
        $row = $statement->fetch(\PDO::FETCH_NUM);
        $statement->closeCursor();
        return $row === false ? null : $row[$column];
    }

    abstract protected function connect(string $host, int $port): \PDO;

    /** Why it accepts no writes; null: it does. */
    abstract protected function obstacle(\PDO $pdo): ?string;

    /** Stores its version; is that new enough? */
    abstract protected function hasVersion(): bool;

    /** Are $most connections enough, if each worker may have $each? */
    public function examineConnections(int $most, int $each, string $uses): void
    {
        $workers = $this->plan->workers * $this->plan->hosts;
        if ($workers > 0 && $most < $each * $workers) {
            $this->plan->report->add($most < $workers ? Severity::Problem : Severity::Warning, 'maxclients', $this->label,
                "takes $most connections (max_connections), for " . plural($workers, 'worker') . '.',
                "Each worker has up to $uses, beside the application's own; beyond that they are refused, and locks fail.",
                'Set max_connections above ' . $each * $workers . ', and what others need.');
        }
    }

    public function measureLatency(): void
    {
        for ($i = 0; $i < ROUND_TRIPS; $i++) {
            $start = clock();
            $this->pdo->query('SELECT 1')->fetchAll();
            $this->trips[] = clock() - $start;
        }
        if (min($this->trips) > SLOW) {
            $this->warning('slow', sprintf('round trips take %s at best.', seconds(min($this->trips))),
                'Each lock takes one, each release another, and a waiter learns so much later that the lock is free.', 'Use a server that is nearer.');
        }
    }

    private function open(): bool
    {
        $hosts = $this->spec['path'] !== null ? [['host' => $this->spec['path'], 'port' => $this->spec['port']]] : $this->spec['seeds'];
        $reasons = [];
        foreach ($hosts as ['host' => $host, 'port' => $port]) {
            try {
                $pdo = $this->connect($host, $port);
                $obstacle = $this->obstacle($pdo);
                if ($obstacle !== null) {
                    $reasons[] = "$host:$port $obstacle";
                    continue;
                }
                $this->pdo = $pdo;
                return true;
            } catch (\PDOException $e) {
                $reasons[] = self::reason($e);
            }
        }
        $this->unusable('unreachable', 'cannot be used: ' . implode('; ', $reasons) . '.', 'Locks cannot be acquired there.',
            'Is it running, on this address, and are user and password right?');
        return false;
    }

    /** The reason in one line. */
    private static function reason(\PDOException $e): string
    {
        return trim(preg_replace(['/^SQLSTATE\[\w+\]( \[\d+\])?:?\s*(General error: )?\d*\s*/', '/\s+/'], ['', ' '], $e->getMessage()));
    }
}
