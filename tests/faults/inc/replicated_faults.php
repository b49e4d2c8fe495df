<?php
declare(strict_types=1);

require_once __DIR__ . '/replicated.php';
require_once __DIR__ . '/setting.php';

/**
 * Faults of servers with replicas, which cause a failover, or nearly. The present role of a server decides whether it
 * is hit.
 */
final class ReplicatedFaults
{
    /** Times up to 2.75 s: longer than it takes until a server is considered down. */
    private const LONG = 1.8;

    /**
     * @param Closure $kill (int $server, bool $forget): ?callable
     * @param Closure $stop (int $server): callable
     */
    public function __construct(private readonly ReplicatedServers $servers, private readonly Closure $kill, private readonly Closure $stop)
    {
    }

    /** Kinds as in Nemesis. */
    public function kinds(): array
    {
        $master = fn (callable $do) => $this->to('master', $do);
        $replica = fn (callable $do) => $this->to('slave', $do);
        $kinds = [
            'master kill and restart' => [2, $master(fn (int $i) => ($this->kill)($i, false)), self::LONG],
            // Mostly before a failover: then its replicas forget everything, too.
            'master restart without data' => [1.5, $master(fn (int $i) => ($this->kill)($i, true)), 0.4],
            'master restart without data, late' => [1, $master(fn (int $i) => ($this->kill)($i, true)), self::LONG],
            'master stop' => [2.5, $master(fn (int $i) => ($this->stop)($i)), self::LONG],
            'master FLUSHALL' => [0.3, $master(fn (int $i) => $this->say($i, 'FLUSHALL'))],
            'replica kill and restart' => [0.7, $replica(fn (int $i) => ($this->kill)($i, false)), self::LONG],
            'replica restart without data' => [0.7, $replica(fn (int $i) => ($this->kill)($i, true))],
            'replica stop' => [0.7, $replica(fn (int $i) => ($this->stop)($i)), self::LONG],
        ];
        if ($this->servers->haveStocks()) { // a server must not forget stocks
            unset($kinds['master restart without data'], $kinds['master restart without data, late'], $kinds['master FLUSHALL'], $kinds['replica restart without data']);
        }
        $kinds += $this->servers instanceof SentinelServers ? $this->ofSentinels($this->servers) : $this->ofClusters($this->servers);
        return $kinds + ($this->servers->partitions ? $this->ofNetworks() : []);
    }

    private function ofSentinels(SentinelServers $servers): array
    {
        $one = fn (callable $do) => fn (int $i) => $do($servers->sentinels()[$i % 3]);
        return [
            'SENTINEL FAILOVER' => [2.5, $one(fn (int $i) => $this->say($i, 'SENTINEL', 'FAILOVER', SentinelServers::SERVICE))],
            'Sentinel kill and restart' => [0.5, $one(fn (int $i) => ($this->kill)($i, false)), self::LONG],
            'Sentinel stop' => [0.5, $one(fn (int $i) => ($this->stop)($i)), self::LONG],
        ];
    }

    private function ofClusters(ClusterServers $servers): array
    {
        $failOver = fn (string ...$how) => $this->to('slave', fn (int $i) => $this->say($i, 'CLUSTER', 'FAILOVER', ...$how));
        $kinds = ['CLUSTER FAILOVER' => [2, $failOver()], 'CLUSTER FAILOVER FORCE' => [2, $failOver('FORCE')]];
        // No replica acknowledges what a slot's move brings: if the master ends then, sales are lost.
        return $servers->haveStocks() ? $kinds : $kinds + [
            // The slot of a lock in use; for up to 0.5 s its keys are on neither side, or on both.
            'slot is to move' => [8, function (int $i, float $s, float $detail) use ($servers) {
                $servers->move(Setting::RESOURCES[(int) ($detail * count(Setting::RESOURCES))], 0.5 * fmod($detail * 1000, 1) ** 2);
                return fn () => null;
            }],
        ];
    }

    /** Faults that lose packets. "Others" are other servers, including Sentinels. */
    private function ofNetworks(): array
    {
        $others = fn (int $i) => $this->servers->hosts(array_diff(array_keys($this->servers->servers), [$i]));
        $all = fn (int $i) => [...Partitions::CLIENTS, ...$others($i)];
        $clients = fn (int $i) => Partitions::CLIENTS;
        $apart = fn (callable $from, string $how = '') => function (int $i) use ($from, $how) {
            $sides = [$this->servers->hosts([$i]), $from($i)];
            return $this->servers->partitions->lose(...($how === 'deaf' ? array_reverse($sides) : $sides), both: $how === '');
        };
        $masters = fn () => $this->servers->hosts($this->servers->having('master'));
        $master = fn (callable $do) => $this->to('master', $do);
        $replica = fn (callable $do) => $this->to('slave', $do);
        return [
            // Clients reach the old master and the new one.
            'master cut off from others' => [2, $master($apart($others)), self::LONG],
            'master hears nothing of others' => [1, $master($apart($others, 'deaf')), self::LONG],
            'master is not heard by others' => [1, $master($apart($others, 'mute')), self::LONG],
            'master and a replica cut off from others' => [2, $master($this->island(...)), self::LONG],
            'master cut off from clients' => [0.7, $master($apart($clients)), self::LONG],
            'master hears nothing of clients' => [0.5, $master($apart($clients, 'deaf')), self::LONG],
            'master is not heard by clients' => [0.5, $master($apart($clients, 'mute')), self::LONG],
            'master cut off' => [1, $master($apart($all)), self::LONG],
            'replica cut off from others' => [0.7, $replica($apart($others)), self::LONG],
            'replica cut off from masters' => [0.7, $replica($apart($masters)), self::LONG],
            'server cut off' => [0.7, $apart($all), self::LONG],
        ];
    }

    /** Separates a master and one of its replicas from all other servers; clients reach both sides. */
    private function island(int $master): ?callable
    {
        $replica = null;
        foreach ($this->servers->having('slave') as $i) {
            try {
                if ((int) (redis_info($this->servers->servers[$i]->raw(0.2), 'replication')['master_port'] ?? 0) === $this->servers->port($master)) {
                    $replica = $i;
                }
            } catch (RuntimeException) {
            }
        }
        if ($replica === null) {
            return null;
        }
        $others = array_diff(array_keys($this->servers->servers), [$master, $replica]);
        return $this->servers->partitions->lose($this->servers->hosts([$master, $replica]), $this->servers->hosts($others));
    }

    /** Calls $do(int $server, float $seconds, float $detail) for a server with that role. */
    private function to(string $role, callable $do): callable
    {
        return function (int $i, float $seconds, float $detail) use ($role, $do) {
            $those = $this->servers->having($role);
            return $those ? $do($those[$i % count($those)], $seconds, $detail) : null;
        };
    }

    private function say(int $server, string|int ...$words): callable
    {
        $this->servers->servers[$server]->tell(...$words);
        return fn () => null;
    }
}
