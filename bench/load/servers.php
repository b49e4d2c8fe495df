<?php
/* The servers of each class, as the test sees them: what their clients have there. */
declare(strict_types=1);

interface Servers
{
    /** "host:port", separated by commas. */
    public function addresses(): string;

    /**
     * The workers' connections (for ZooKeeper: sessions) on each server, by an id that no later one has.
     * @return list<list<int>>
     */
    public function connections(): array;

    /** Another value if a client connected meanwhile, even for a moment. */
    public function accepted(): array;

    /** Acquires the locks as another client would. @param list<string> $resources */
    public function take(array $resources): void;

    public function giveBack(): void;

    public function waiters(): int;

    /** No lock, queue or node is left. */
    public function areEmpty(): bool;

    /** Limits the server's connections; returns how many more clients it accepts. */
    public function limit(): int;

    public function unlimit(): void;
}

final class RedisSet implements Servers
{
    /** @var list<PrivateRedis> */
    private array $servers;
    /** @var list<RedisRaw> */
    private array $raws;
    /** @var list<string> */
    private array $taken = [];

    public function __construct(int $number)
    {
        $this->servers = array_map(fn () => redis_private(['maxclients 10000']), range(1, $number));
        $this->raws = array_map(fn (PrivateRedis $server) => $server->raw(), $this->servers);
    }

    public function addresses(): string
    {
        return implode(',', array_map(fn (PrivateRedis $server) => $server->address(), $this->servers));
    }

    public function connections(): array
    {
        return array_map(client_ids(...), $this->raws);
    }

    public function accepted(): array
    {
        return array_map(connections_received(...), $this->raws);
    }

    public function take(array $resources): void
    {
        $this->taken = $resources;
        foreach ($this->raws as $redis) {
            foreach ($resources as $resource) {
                $redis->cmd('SET', "Lock:$resource", 'somebody-else');
            }
        }
    }

    public function giveBack(): void
    {
        foreach ($this->raws as $redis) {
            $redis->cmd('DEL', ...array_map(fn (string $resource) => "Lock:$resource", $this->taken));
        }
    }

    public function waiters(): int
    {
        return array_sum(array_map(fn (string $queue) => $this->raws[0]->cmd('ZCARD', $queue), $this->raws[0]->cmd('KEYS', 'dlock:queue:*')));
    }

    public function areEmpty(): bool
    {
        return array_diff(array_merge(...array_map(fn (RedisRaw $redis) => $redis->cmd('KEYS', '*'), $this->raws)), ['dlock:fence']) === [];
    }

    public function limit(): int
    {
        foreach ($this->raws as $redis) {
            $redis->cmd('CONFIG', 'SET', 'maxclients', 100);
        }
        return 99; // this connection is the 100th
    }

    public function unlimit(): void
    {
        foreach ($this->raws as $redis) {
            $redis->cmd('CONFIG', 'SET', 'maxclients', 10000);
        }
    }
}

final class ZooKeeper implements Servers
{
    private readonly PrivateZooKeeper $server;
    private readonly ZkRaw $raw;
    /** @var list<string> */
    private array $taken = [];
    /** @var list<ZkRaw> */
    private array $others = [];
    private const LIMIT = 60;

    public function __construct()
    {
        $this->server = zk_private(['maxSessionTimeout' => 600_000]);
        $this->raw = new ZkRaw($this->server->hosts(), 600_000); // it sends no pings
    }

    public function addresses(): string
    {
        return $this->server->hosts();
    }

    public function connections(): array
    {
        $sessions = array_diff(array_keys(zk_sessions($this->server->hosts())), [$this->raw->sessionId]);
        sort($sessions);
        return [$sessions];
    }

    /** Session ids grow: after a new session, the last id is another one. */
    public function accepted(): array
    {
        preg_match_all('/^\s*(0x[0-9a-f]+)/m', $this->server->ask('dump'), $found);
        return [max(array_map('hexdec', $found[1]))];
    }

    public function take(array $resources): void
    {
        foreach ($resources as $resource) {
            $this->raw->createPath("/locks/$resource");
            $this->taken[] = $this->raw->create("/locks/$resource/_c_00000000-0000-0000-0000-000000000000-lock-", '', ZkRaw::EPHEMERAL | ZkRaw::SEQUENCE);
        }
    }

    public function giveBack(): void
    {
        array_map($this->raw->delete(...), $this->taken);
        $this->taken = [];
    }

    public function waiters(): int
    {
        preg_match_all('~^\t/locks/~m', $this->server->ask('dump'), $found);
        return count($found[0]) - count($this->taken);
    }

    /** The server itself removes the nodes above the locks. */
    public function areEmpty(): bool
    {
        return !str_contains($this->server->ask('dump'), '/locks/');
    }

    public function limit(): int
    {
        $this->server->restart(['maxClientCnxns' => self::LIMIT]);
        // The server counts a connection a little after it has accepted it, so it would accept any number of
        // connections at once. These fill it first.
        for ($i = 0; $i < self::LIMIT; $i++) {
            $this->others[] = new ZkRaw($this->server->hosts(), 600_000);
        }
        return 0;
    }

    public function unlimit(): void
    {
        $this->others = [];
        $this->server->restart(['maxClientCnxns' => 0]);
    }
}
