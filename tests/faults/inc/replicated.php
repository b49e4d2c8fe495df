<?php
/* Redis servers with replicas: behind Sentinels, and as a cluster. Each server has an address of its own, and connects
 * to the other servers from there. */
declare(strict_types=1);

require_once __DIR__ . '/network.php';
require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/setting.php';
require_once __DIR__ . '/shards.php';
require_once __DIR__ . '/../../inc/topology.inc';

final class SentinelProcess extends RedisProcess
{
    protected function usual(): array
    {
        return [];
    }

    protected function options(): array
    {
        return ['--sentinel'];
    }

    protected function readiness(): string
    {
        return 'Sentinel ID is';
    }
}

abstract class ReplicatedServers implements Servers
{
    use ServerProcesses;

    /** Of each master. */
    protected const REPLICAS = 0;

    /** @var list<RedisProcess> servers with data, then Sentinels */
    public readonly array $servers;
    /** @var list<int> the numbers of servers with data */
    public readonly array $data;
    public readonly ?Partitions $partitions;
    private readonly Relays $links;
    /** @var resource */
    private $watcher;
    /**
     * Seconds between the servers' wall clocks: less than the guard. Clients' clocks may differ from them by minutes.
     */
    private const SPREAD = 2.0;
    private readonly float $offset;

    /**
     * @param bool $confirmed false: no replica has to confirm anything, so that two holders are possible
     * @param ?int $permits how many each resource has; null: the servers have locks
     */
    public function __construct(protected readonly string $dir, private readonly bool $confirmed, protected readonly Chance $chance, private readonly ?int $permits = null)
    {
        $this->offset = $chance->between(-300, 300);
        Network::mayLosePackets() && Partitions::pass();
        $this->servers = $this->make();
        $this->data = array_keys(array_filter($this->servers, fn (RedisProcess $server) => !$server instanceof SentinelProcess));
        $addresses = array_map(fn (RedisProcess $server) => $server->address(), $this->servers);
        $this->links = new Relays($addresses, "$dir/relay.log", Partitions::RELAY);
        $this->partitions = Network::mayLosePackets() ? new Partitions(array_combine($addresses, $this->links->addresses)) : null;
        $this->watcher = $this->launch('watcher');
    }

    /**
     * Starts a script that watches or changes all servers with data. @param ?resource $input its standard input
     * @return resource
     */
    protected function launch(string $script, &$input = null)
    {
        $config = ['addresses' => array_map(fn (int $i) => $this->servers[$i]->address(), $this->data), 'dir' => $this->dir];
        $process = proc_open(['setpriv', '--pdeathsig', 'KILL', PHP_BINARY, ...explode(' ', getenv('DLOCK_FAULTS_PHP')), dirname(__DIR__) . "/$script.php", json_encode($config)],
            [['pipe', 'r'], ['file', '/dev/null', 'w'], ['file', "$this->dir/$script.err", 'a']], $pipes) ?: throw new RuntimeException("no $script");
        $input = $pipes[0];
        return $process;
    }

    /** Starts the servers. @return list<RedisProcess> */
    abstract protected function make(): array;

    /**
     * Do the servers agree on a sound state, in which each master has its replicas? It repairs what the servers do not.
     * It throws if a server does not answer.
     */
    abstract protected function settle(): bool;

    protected static function host(): string
    {
        return sprintf('127.%d.%d.%d', random_int(1, 254), random_int(0, 255), random_int(1, 254));
    }

    /** @param list<string> $config */
    protected function server(string $name, array $config = []): RedisProcess
    {
        $host = self::host();
        return new RedisProcess("$this->dir/$name", ["bind-source-addr $host", 'repl-diskless-sync-delay 0', 'repl-timeout 5', 'repl-ping-replica-period 1',
            'enable-debug-command yes', ...$config], true, $host, $this->offset + $this->chance->between(-0.5, 0.5) * self::SPREAD);
    }

    /** @return array<string, RedisRaw> by address, without servers that do not answer */
    public function raws(float $timeout = 1): array
    {
        $raws = [];
        foreach ($this->data as $i) {
            try {
                $raws[$this->servers[$i]->address()] = $this->servers[$i]->raw($timeout);
            } catch (RuntimeException) {
            }
        }
        return $raws;
    }

    /** "master", "slave", or null: the server does not answer. */
    public function role(int $server): ?string
    {
        try {
            return redis_info($this->servers[$server]->raw(0.2), 'replication')['role'] ?? null;
        } catch (RuntimeException) {
            return null;
        }
    }

    /** @return list<int> the servers with data that have that role now */
    public function having(string $role): array
    {
        return array_values(array_filter($this->data, fn (int $i) => $this->role($i) === $role));
    }

    /** @param list<int> $which  @return list<string> */
    public function hosts(array $which): array
    {
        return array_map(fn (int $i) => $this->servers[$i]->host, $which);
    }

    /** The master that has that key now. */
    abstract public function master(string $key): RedisRaw;

    /** Where keys can be read; a replica of a cluster allows that only on request. */
    protected function reader(int $server): RedisRaw
    {
        return $this->servers[$server]->raw();
    }

    public function links(): Relays
    {
        return $this->links;
    }

    public function names(): ?Names
    {
        return null;
    }

    /** @param list<RedisProcess> $seeds */
    protected function specification(string $scheme, array $seeds, string $service = ''): array
    {
        return [sprintf('%s://%s%s?connect_timeout=0.3&read_timeout=0.5&%s', $scheme, implode(',', array_map(fn ($seed) => $seed->address(), $seeds)), $service,
            $this->confirmed ? $this->confirmation() : 'replicas=0')];
    }

    public function haveStocks(): bool
    {
        return $this->permits === 0;
    }

    /** Stocks have no guard, so all replicas must have each acknowledged change. */
    private function confirmation(): string
    {
        return $this->haveStocks() ? 'replicas=' . static::REPLICAS : 'replicas=1&guard=' . Setting::GUARD;
    }

    public function waitUntilReady(): void
    {
        foreach ($this->servers as $server) {
            $server->waitUntilReady();
        }
        wait_for(function () {
            try {
                $well = $this->settle();
            } catch (RuntimeException) {
                $well = false;
            }
            $well || usleep(100_000);
            return $well;
        }, 90, 'the servers to agree');
    }

    public function leftovers(): array
    {
        $left = [];
        foreach ($this->data as $i) {
            $raw = $this->reader($i);
            foreach ($raw->cmd('KEYS', '*') as $key) {
                if (!preg_match('/^dlock:(fence|era)($|:)/', $key)) {
                    $found = $this->permits === null ? [$key] : Books::left($raw, $key, $this->permits);
                    array_push($left, ...array_map(fn (string $what) => "server $i: $what", $found));
                }
            }
        }
        return $left;
    }

    public function stop(): void
    {
        proc_terminate($this->watcher, SIGKILL);
        proc_close($this->watcher);
        foreach ($this->servers as $server) {
            $server->kill();
        }
    }
}

/** A master, two replicas, three Sentinels. */
final class SentinelServers extends ReplicatedServers
{
    public const SERVICE = 'mymaster';
    protected const REPLICAS = 2;
    private const DOWN_AFTER = 1000, FAILOVER_TIMEOUT = 3000;
    /**
     * ms between two looks of a Sentinel. With the default of 10 s, all servers need that long to follow a new master.
     */
    private const LOOKS = 700;

    protected function make(): array
    {
        $servers = [$this->server('redis0'), $this->server('redis1'), $this->server('redis2')];
        $servers[1]->follow($servers[0]);
        $servers[2]->follow($servers[0]);
        $sentinels = $raws = [];
        for ($i = 0; $i < 3; $i++) {
            $host = self::host();
            $sentinels[] = $sentinel = new SentinelProcess("$this->dir/sentinel$i", ["bind-source-addr $host", "sentinel announce-ip $host",
                ...sentinel_config(self::SERVICE, $servers[0]->address(), 2, self::DOWN_AFTER, self::FAILOVER_TIMEOUT)], true, $host, $this->chance->between(-300, 300));
            $raws[$sentinel->address()] = $sentinel->raw();
        }
        introduce_sentinels($raws, self::SERVICE, $servers[0]->address());
        array_map(fn (RedisRaw $raw) => hasten_sentinel($raw, self::LOOKS), $raws);
        return [...$servers, ...$sentinels];
    }

    public function specifications(bool $straight = false, bool $named = false): array
    {
        return $this->specification('sentinel', array_slice($this->servers, 3), '/' . self::SERVICE);
    }

    public function master(string $key): RedisRaw
    {
        return $this->servers[$this->having('master')[0]]->raw();
    }

    /** @return list<int> */
    public function sentinels(): array
    {
        return [3, 4, 5];
    }

    public function start(int $server): void
    {
        parent::start($server);
        if ($server >= 3) {
            $this->servers[$server]->waitUntilReady();
            $this->servers[$server]->tell('SENTINEL', 'DEBUG', 'INFO-PERIOD', self::LOOKS, 'PUBLISH-PERIOD', self::LOOKS);
        }
    }

    protected function settle(): bool
    {
        foreach ($this->sentinels() as $i) {
            if (!is_sentinel_content($this->servers[$i]->raw(1), self::SERVICE, 3, 2)) {
                return false;
            }
        }
        return count($this->having('master')) === 1 && count(array_filter($this->raws(), is_replica_in_sync(...))) === 2;
    }
}

/** Three masters with a replica each. */
final class ClusterServers extends ReplicatedServers
{
    private const NODES = 6, MASTERS = 3, NODE_TIMEOUT = 1000;
    protected const REPLICAS = 1;
    private readonly Shards $shards;
    /** @var resource */
    private $mover;
    /** @var resource */
    private $orders;

    public function __construct(string $dir, bool $confirmed, Chance $chance, ?int $permits = null)
    {
        parent::__construct($dir, $confirmed, $chance, $permits);
        $this->shards = new Shards(array_map(fn (RedisProcess $node) => $node->address(), $this->servers));
        $this->mover = $this->launch('mover', $this->orders);
    }

    protected function make(): array
    {
        $nodes = $raws = [];
        for ($i = 0; $i < self::NODES; $i++) {
            $nodes[] = $node = $this->server("redis$i", ['cluster-enabled yes', 'cluster-node-timeout ' . self::NODE_TIMEOUT,
                'cluster-replica-validity-factor 0', 'cluster-require-full-coverage no', 'cluster-port ' . private_port()]);
            $raws[$node->address()] = $node->raw();
        }
        form_cluster($raws, self::MASTERS, array_map(fn (RedisRaw $raw) => (int) $raw->cmd('CONFIG', 'GET', 'cluster-port')[1], $raws));
        wait_for(fn () => count(array_filter($raws, fn (RedisRaw $raw) => is_node_content($raw, self::NODES))) === self::NODES, 30, 'the cluster');
        return $nodes;
    }

    public function specifications(bool $straight = false, bool $named = false): array
    {
        return $this->specification('cluster', $this->servers);
    }

    public function master(string $key): RedisRaw
    {
        $nodes = $this->shards->nodes();
        return $nodes[Shards::owner($nodes, key_slot($key))]['raw'];
    }

    protected function reader(int $server): RedisRaw
    {
        $raw = parent::reader($server);
        $raw->cmd('READONLY');
        return $raw;
    }

    /**
     * Moves the slot of that resource's lock to another master. The mover does that, slot by slot, and completes each
     * move.
     */
    public function move(string $resource, float $pause): void
    {
        $this->moverHasEnded();
        fwrite($this->orders, json_encode(['slot' => key_slot(Setting::PREFIX . $resource), 'pause' => $pause, 'at' => nanoseconds()]) . "\n");
    }

    public function waitUntilReady(): void
    {
        foreach ($this->servers as $server) {
            $server->waitUntilReady();
        }
        fclose($this->orders);
        // The mover itself gives up before.
        wait_for($this->moverHasEnded(...), 3 * Shards::GIVES_UP, 'the slots to arrive');
        try {
            parent::waitUntilReady();
        } catch (RuntimeException $e) {
            throw new RuntimeException("{$e->getMessage()}\n{$this->shards->state()}", 0, $e);
        }
    }

    /** Throws if the mover has given up: no slot would be moved, and no master repaired, any more. */
    private function moverHasEnded(): bool
    {
        ['running' => $running, 'exitcode' => $code] = proc_get_status($this->mover);
        $running || $code === 0 || throw new RuntimeException('the mover gave up: ' . file_get_contents("$this->dir/mover.err"));
        return !$running;
    }

    public function check(): void
    {
        parent::check();
        $this->moverHasEnded();
    }

    public function stop(): void
    {
        proc_terminate($this->mover, SIGKILL);
        parent::stop();
    }

    protected function settle(): bool
    {
        $raws = $this->raws();
        return $this->shards->mend() && count(array_filter($raws, fn (RedisRaw $raw) => is_node_content($raw, self::NODES))) === self::NODES
            && count(array_filter($raws, has_replica_in_sync(...))) === self::MASTERS;
    }
}
