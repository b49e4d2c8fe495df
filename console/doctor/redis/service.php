<?php
/* Servers with failover: behind Sentinels, or in a cluster. sentinels.php and nodes.php find them. */
declare(strict_types=1);

namespace Dlock\Doctor;

final class RedisService
{
    /** @var list<RedisServer> */
    public array $masters = [];
    /** @var list<RedisServer> */
    public array $replicas = [];
    /** Seconds until a master that does not answer counts as down; null: unknown. */
    public ?float $detection = null;
    /** The name of the setting that decides it. */
    public string $setting = '';

    /** @param array<string, mixed> $spec see Dlock\describe_server() */
    public function __construct(#[\SensitiveParameter] public readonly array $spec, public readonly Plan $plan)
    {
    }

    /** Reports a Sentinel or node that does not help to find the masters. */
    public function unusable(string $id, string $server, string $seen, string $do): void
    {
        $this->plan->report->add(Severity::Problem, $id, $server, $seen, 'If no other one does, no client finds the master.', $do, true);
    }

    public function problem(string $id, string $server, string $seen, string $why, string $do): void
    {
        $this->plan->report->add(Severity::Problem, $id, $server, $seen, $why, $do);
    }

    public function warning(string $id, string $server, string $seen, string $why, string $do): void
    {
        $this->plan->report->add(Severity::Warning, $id, $server, $seen, $why, $do);
    }

    public function note(string $id, string $server, string $seen, string $why, string $do): void
    {
        $this->plan->report->add(Severity::Note, $id, $server, $seen, $why, $do);
    }

    /** A logged-in connection to a Sentinel or node that the specification names. Throws Trouble or Refusal. */
    public function ask(array $seed, #[\SensitiveParameter] ?array $with = null): RedisConnection
    {
        $connection = new RedisConnection(server_at($this->spec, $seed['host'], $seed['port'], $with ?? []));
        $connection->logIn();
        return $connection;
    }

    /** @param list<array{string, int}> $replicas host and port of each */
    public function found(string $host, int $port, array $replicas): RedisServer
    {
        $this->masters[] = $master = new RedisServer(server_at($this->spec, $host, $port), $this->plan);
        $master->nodes = 1 + count($replicas);
        foreach ($replicas as $replica) {
            $this->replicas[] = new RedisServer(server_at($this->spec, ...$replica), $this->plan, true);
        }
        return $master;
    }
}

/**
 * The specification of a server of a service.
 * @param array<string, mixed> $spec
 * @param array<string, mixed> $with what differs there
 */
function server_at(#[\SensitiveParameter] array $spec, string $host, int $port, #[\SensitiveParameter] array $with = []): array
{
    $server = $with + ['host' => $host, 'port' => $port, 'path' => null, 'label' => (str_contains($host, ':') ? "[$host]" : $host) . ":$port"] + $spec;
    if ($server['tls'] !== null) {
        $server['tls'] += ['peer_name' => $host];
    }
    return $server;
}
