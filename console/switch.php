<?php
/* A planned failover after which locks are granted at once (docs/operations.md). It pauses writes, so that no replica
 * has data that the new master lacks. */
declare(strict_types=1);

namespace Dlock\Console;

use Dlock\Doctor\RedisConnection;
use Dlock\Doctor\Refusal;
use Dlock\Doctor\Trouble;

/**
 * Milliseconds of a pause, which is extended until there is a new master. If this process dies, writes continue
 * afterwards.
 */
const PAUSE = 3000;
const PING_PERIOD = 'repl-ping-replica-period';
/** Seconds for which it tries to end the pause of the old master. */
const SECONDS_TO_GO_ON = 10;
/** Seconds, because nodes report their uptime in whole seconds. */
const UPTIME_MARGIN = 2;

final class NotSwitched extends \Exception
{
}

function load_doctor(): void
{
    foreach ([...glob(__DIR__ . '/doctor/base/*.php'), ...glob(__DIR__ . '/doctor/redis/*.php')] as $file) {
        require_once $file;
    }
}

/** A service's servers, as a user sees them that may manage them. */
abstract class SwitchedService
{
    public function __construct(#[\SensitiveParameter] public readonly array $spec)
    {
    }

    /** The master to replace, as "host:port". */
    abstract public function master(): string;

    /** Begins the failover. */
    abstract public function begin(): void;

    abstract public function newMaster(): ?string;

    /** Makes the old master a replica of the new one, unless it already is. */
    abstract public function demote(RedisConnection $old, string $to): void;

    /** The name of a lock on this master. */
    abstract public function lockName(string $prefix): string;

    /** Does a master send pings to its replicas while its writes are paused? */
    abstract public function pings(): bool;

    /** @return array{string, int} */
    protected static function split(string $address): array
    {
        $colon = strrpos($address, ':');
        return [trim(substr($address, 0, (int) $colon), '[]'), (int) substr($address, $colon + 1)];
    }

    /** @param array<string, mixed> $with */
    public function at(string $address, #[\SensitiveParameter] array $with = []): RedisConnection
    {
        $connection = new RedisConnection(\Dlock\Doctor\server_at($this->spec, ...[...self::split($address), $with]));
        $connection->logIn();
        return $connection;
    }

    /** @param array<string, mixed> $with  @return iterable<RedisConnection> to the servers of the DSN that answer */
    protected function seeds(array $with = []): iterable
    {
        foreach ($this->spec['seeds'] as $seed) {
            try {
                yield $this->at("$seed[host]:$seed[port]", $with);
            } catch (Trouble) {
            }
        }
    }

    /** @return array<string, string> */
    public static function info(RedisConnection $server, string $section): array
    {
        preg_match_all('/^(\w+):(.*?)\r?$/m', $server->text('INFO', $section), $found);
        return array_combine($found[1], $found[2]);
    }

    /** Offsets of the replicas in sync, by address. @param array<string, string> $info @return array<string, int> */
    public static function replicas(array $info): array
    {
        $offsets = [];
        foreach ($info as $name => $value) {
            if (preg_match('/^slave\d+$/', $name) && preg_match('/^ip=([^,]+),port=(\d+),state=online,offset=(\d+)/', $value, $found)) {
                $offsets["$found[1]:$found[2]"] = (int) $found[3];
            }
        }
        return $offsets;
    }
}

final class SwitchedBySentinels extends SwitchedService
{
    public function master(): string
    {
        return $this->newMaster() ?? throw new NotSwitched("no Sentinel names the master of {$this->spec['service']}");
    }

    public function begin(): void
    {
        $why = 'no Sentinel answers';
        foreach ($this->seeds($this->spec['sentinel']) as $sentinel) {
            try {
                $sentinel->cmd('SENTINEL', 'FAILOVER', $this->spec['service']);
                return;
            } catch (Refusal $e) {
                $why = $e->getMessage();
            }
        }
        throw new NotSwitched("the Sentinels refuse: $why");
    }

    /** The master that most Sentinels name. */
    public function newMaster(): ?string
    {
        $votes = [];
        foreach ($this->seeds($this->spec['sentinel']) as $sentinel) {
            $address = $sentinel->cmd('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', $this->spec['service']);
            is_array($address) && $votes[] = implode(':', $address);
        }
        $votes = array_count_values($votes);
        arsort($votes);
        return array_key_first($votes);
    }

    public function demote(RedisConnection $old, string $to): void
    {
        [$host, $port] = self::split($to);
        $old->cmd('REPLICAOF', $host, $port);
    }

    public function lockName(string $prefix): string
    {
        return 'dlock-switch';
    }

    public function pings(): bool
    {
        return true;
    }
}

final class SwitchedInCluster extends SwitchedService
{
    public function __construct(#[\SensitiveParameter] array $spec, private readonly string $node)
    {
        parent::__construct($spec);
    }

    /** @return list<array> CLUSTER SLOTS */
    private function slots(): array
    {
        foreach ($this->seeds() as $node) {
            return \Dlock\Doctor\slots_of($node->items(0, 'CLUSTER', 'SLOTS'));
        }
        throw new NotSwitched('no node answers');
    }

    /** The first slot of that master, and its address; null: it is not a master. @return array{int, string}|null */
    private function find(string $address): ?array
    {
        foreach ($this->slots() as [$first, , $master]) {
            if ("$master[0]:$master[1]" === $address) {
                return [$first, $address];
            }
        }
        return null;
    }

    public function master(): string
    {
        return $this->find($this->node)[1] ?? throw new Misuse("$this->node is not the address of a master with slots, as CLUSTER SLOTS has it");
    }

    public function begin(): void
    {
        $offsets = self::replicas(self::info($this->at($this->node), 'replication'));
        arsort($offsets);
        $this->at((string) array_key_first($offsets))->cmd('CLUSTER', 'FAILOVER');
    }

    public function newMaster(): ?string
    {
        $info = self::info($this->at($this->node), 'replication');
        return $info['role'] === 'master' ? $this->node : "$info[master_host]:$info[master_port]";
    }

    /** The node has already demoted itself. */
    public function demote(RedisConnection $old, string $to): void
    {
    }

    /** In the master's first slot, whose epoch its other slots follow. */
    public function lockName(string $prefix): string
    {
        [$slot] = $this->find($this->node);
        for ($i = 0; \Dlock\Doctor\key_slot("{$prefix}dlock-switch:$i") !== $slot; $i++) {
        }
        return "dlock-switch:$i";
    }

    /** CLUSTER FAILOVER itself prevents that. */
    public function pings(): bool
    {
        return false;
    }
}

/** One switch, step by step. */
final class PlannedSwitch
{
    private float $until;
    private RedisConnection $old;
    private string $from;
    private bool $replaced = false;

    public function __construct(private readonly SwitchedService $service, private readonly \DistributedLock $locks, private readonly string $prefix, float $timeout)
    {
        $this->until = \Dlock\Doctor\clock() + $timeout;
    }

    private function left(): float
    {
        return max(0.0, $this->until - \Dlock\Doctor\clock());
    }

    /** @template T @param callable(): ?T $condition @return T */
    private function await(callable $condition, string $what): mixed
    {
        while (!($result = $condition())) {
            $this->left() > 0 || throw new NotSwitched("$what: not within the --timeout");
            usleep(50_000);
        }
        return $result;
    }

    /**
     * @return array{from: string, to: string, writesPaused: float, granted: float} seconds until there was a new
     * master, and until it granted a lock
     */
    public function run(callable $say): array
    {
        $this->from = $this->service->master();
        $this->old = $this->service->at($this->from);
        $name = $this->service->lockName($this->prefix);
        $say("$this->from is the master");
        $this->waitUntilReady($say);
        $this->tryLock($name);
        $begun = \Dlock\Doctor\clock();
        try {
            $this->onSignals(fn () => throw new NotSwitched('interrupted'));
            $this->pause();
            $this->service->begin();
            $to = $this->await($this->switched(...), 'another master');
            $this->replaced = true;
            $this->demote($to);
        } finally {
            $this->onSignals(SIG_IGN);
            $this->goOn();
            $this->onSignals(SIG_DFL);
        }
        $switched = \Dlock\Doctor\clock() - $begun;
        $say("$to is the master now");
        $this->tryLock($name);
        return ['from' => $this->from, 'to' => $to, 'writesPaused' => round($switched, 3), 'granted' => round(\Dlock\Doctor\clock() - $begun, 3)];
    }

    /** Waits until enough replicas are in sync, and all servers have been up for long enough to be believed. */
    private function waitUntilReady(callable $say): void
    {
        $spec = $this->service->spec;
        $needed = max(1, $spec['replicas']);
        $this->await(fn () => count(SwitchedService::replicas(SwitchedService::info($this->old, 'replication'))) >= $needed,
            "$needed " . ($needed === 1 ? 'replica' : 'replicas') . ' in sync');
        $least = (float) $spec['guard'] + UPTIME_MARGIN;
        foreach ([$this->from, ...array_keys(SwitchedService::replicas(SwitchedService::info($this->old, 'replication')))] as $address) {
            $server = $this->service->at($address);
            self::restorePings($server);
            $uptime = fn () => (float) SwitchedService::info($server, 'server')['uptime_in_seconds'];
            $uptime() < $least && $say("waits until $address has been up for " . span($least));
            $this->await(fn () => $uptime() >= $least, "$address to be up for " . span($least));
        }
    }

    private function tryLock(string $name): void
    {
        try {
            $this->locks->acquire($name, timeout: max(0.1, $this->left()))->release();
        } catch (\Dlock\AcquireTimeoutException $e) {
            throw new NotSwitched($e->getMessage());
        }
    }

    private function onSignals(callable|int $action): void
    {
        if (function_exists('pcntl_async_signals')) {
            pcntl_async_signals(true);
            array_map(fn (int $signal) => pcntl_signal($signal, $action), [SIGINT, SIGTERM, SIGHUP]);
        }
    }

    /**
     * Stops pings to replicas: with a ping, one replica would have more data than another. The new value of the setting
     * contains the old one, because a killed switch cannot restore it.
     */
    private function stopPings(): void
    {
        try {
            $period = (int) $this->old->items(2, 'CONFIG', 'GET', PING_PERIOD)[1];
            $period > 0 && $period < \Dlock\Doctor\NO_PINGS && $this->old->cmd('CONFIG', 'SET', PING_PERIOD, \Dlock\Doctor\NO_PINGS + $period);
        } catch (Refusal | Trouble) { // otherwise there is a ping every ten seconds
        }
    }

    /** A server that Sentinels demote writes its configuration to its file, perhaps before the setting is restored. */
    private static function restorePings(RedisConnection $server): void
    {
        try {
            $period = (int) $server->items(2, 'CONFIG', 'GET', PING_PERIOD)[1] - \Dlock\Doctor\NO_PINGS;
            if ($period > 0) {
                $server->cmd('CONFIG', 'SET', PING_PERIOD, $period);
                SwitchedService::info($server, 'replication')['role'] === 'master' || $server->cmd('CONFIG', 'REWRITE');
            }
        } catch (Refusal) {
        }
    }

    /** Pauses writes, and waits until the replicas have all data. */
    private function pause(): void
    {
        $this->service->pings() && $this->stopPings();
        $this->old->cmd('CLIENT', 'PAUSE', PAUSE, 'WRITE');
        $this->await(function () {
            $info = SwitchedService::info($this->old, 'replication');
            return min(SwitchedService::replicas($info) ?: [-1]) >= (int) $info['master_repl_offset'];
        }, 'the replicas to have all');
    }

    private function switched(): ?string
    {
        $new = $this->service->newMaster();
        if ($new === null || $new === $this->from || SwitchedService::info($this->service->at($new), 'replication')['role'] !== 'master') {
            try {
                $this->old->cmd('CLIENT', 'PAUSE', PAUSE, 'WRITE');
            } catch (Refusal | Trouble) {
            }
            return null;
        }
        return $new;
    }

    /**
     * Demotes the old master at once. Sentinels do so seconds later, only after its writes continue, because their
     * messages to it are paused, too. If it executed a release as a master, the release would be lost, and the lock
     * held until its lease ends. Another replica could receive data from it that the new master lacks.
     */
    private function demote(string $to): void
    {
        try {
            $this->service->demote($this->old, $to);
        } catch (Refusal | Trouble) { // no right to do that, or Sentinels were faster
        }
    }

    /**
     * Retries, because Sentinels close all connections to a server that they demote, and it may be slow to accept new
     * ones.
     */
    private function goOn(): void
    {
        $until = \Dlock\Doctor\clock() + SECONDS_TO_GO_ON;
        do {
            try {
                $old = $this->service->at($this->from);
                // If the old master is a replica already, writes continue when the pause ends.
                if (!$this->replaced || SwitchedService::info($old, 'replication')['role'] !== 'master') {
                    $old->cmd('CLIENT', 'UNPAUSE');
                }
                self::restorePings($old);
                return;
            } catch (Refusal | Trouble $e) {
                usleep(100_000);
            }
        } while (\Dlock\Doctor\clock() < $until);
        fwrite(STDERR, "dlock: $this->from may have been left with " . PING_PERIOD . ' changed (' . printable($e->getMessage()) . "); dlock switch puts it back\n");
    }
}

function switch_master(Arguments $arguments): int
{
    load_doctor();
    $server = $arguments->server();
    try {
        $spec = \Dlock\describe_server($server);
    } catch (\ValueError | \TypeError $e) {
        throw new Misuse($e->getMessage());
    }
    $service = match ($spec['discovery'] ?? '') {
        'sentinel' => new SwitchedBySentinels($spec),
        'cluster' => new SwitchedInCluster($spec, $arguments->name()),
        default => throw new Misuse('switch needs a --server that begins with sentinel:// or cluster://'),
    };
    $json = $arguments->has('json');
    try {
        $prefix = $arguments->text('prefix', 'Lock:');
        $locks = new \DistributedLock($server, $prefix, ttl: min(5.0, $spec['guard'] ?? 5.0));
        $done = (new PlannedSwitch($service, $locks, $prefix, $arguments->seconds('timeout') ?? 60.0))->run(function (string $text) use ($json) {
            $json || print("$text\n");
        });
    } catch (NotSwitched | Refusal $e) {
        fwrite(STDERR, 'dlock: not switched, or locks are not granted yet: ' . printable($e->getMessage()) . "\n");
        return 1;
    }
    echo $json ? json($done) . "\n" : 'locks are granted again, ' . span($done['granted']) . " after writes were paused\n";
    return 0;
}
