<?php
declare(strict_types=1);

/**
 * Loses packets, by nftables: unlike the proxy, which only holds them up. A connection that ends meanwhile stays half open, and
 * what was lost comes late, when TCP repeats it. Only in a network namespace of this run's own, which faults.sh makes where it may.
 */
final class Network
{
    /** @var array<int, true> ports whose packets are lost now */
    private array $lost = [];

    public static function mayLosePackets(): bool
    {
        return getenv('DLOCK_FAULTS_NETWORK') === '1';
    }

    public function __construct()
    {
        self::nft('add table inet faults; add chain inet faults arrivals { type filter hook input priority 0; }',
            ...array_map(fn (string $set, string $port) => "add set inet faults $set { type inet_service; }; add rule inet faults arrivals tcp $port @$set drop",
                ['requests', 'replies'], ['dport', 'sport']));
    }

    /**
     * @param list<int> $ports of servers
     * @return ?callable what ends it; null: they are under such a fault already
     */
    public function lose(array $ports, bool $requests, bool $replies): ?callable
    {
        if (array_intersect_key($this->lost, array_flip($ports))) {
            return null;
        }
        $this->lost += array_fill_keys($ports, true);
        $sets = array_keys(array_filter(['requests' => $requests, 'replies' => $replies]));
        $all = fn (string $what) => self::nft(...array_map(fn (string $set) => "$what element inet faults $set { " . implode(', ', $ports) . ' }', $sets));
        $all('add');
        return function () use ($all, $ports) {
            $all('delete');
            $this->lost = array_diff_key($this->lost, array_flip($ports));
        };
    }

    public static function nft(string ...$commands): void
    {
        exec('PATH="$PATH:/usr/sbin" nft ' . escapeshellarg(implode('; ', $commands)) . ' 2>&1', $output, $code);
        $code === 0 || throw new RuntimeException('nft: ' . implode("\n", $output));
    }
}

/**
 * The same between any two, where each server has an address of its own and makes its connections from there. Clients have two addresses: connections
 * that they make from 127.0.0.1 are led to the relay of that server, but one in five, and the relay makes its own from 127.0.0.2. So nobody needs to be
 * told about relays: neither Sentinels nor nodes of a cluster, which tell clients where servers are. The run itself uses 127.0.0.3, and always gets through.
 */
final class Partitions
{
    public const CLIENTS = ['127.0.0.1', self::RELAY];
    public const RELAY = '127.0.0.2';
    private const RUN = '127.0.0.3';

    /** @var array<string, int> by "from . to": how many faults have these packets lost now */
    private array $lost = [];

    /** For all connections that this process makes from now on. */
    public static function pass(): void
    {
        stream_context_set_default(['socket' => ['bindto' => self::RUN . ':0']]);
    }

    /** @param array<string, string> $detours "host:port" of servers => "127.0.0.1:port" of their relays */
    public function __construct(array $detours)
    {
        Network::nft('add table inet faults; add chain inet faults arrivals { type filter hook input priority 0; }',
            'add set inet faults pairs { type ipv4_addr . ipv4_addr; }; add rule inet faults arrivals ip saddr . ip daddr @pairs drop',
            'add chain inet faults departures { type nat hook output priority -100; }',
            ...array_map(fn (string $server, string $relay) => 'add rule inet faults departures ip saddr 127.0.0.1 ip daddr ' . strtr($server, [':' => ' tcp dport '])
                . " numgen random mod 5 != 0 dnat ip to $relay", array_keys($detours), $detours));
    }

    /** Packets from all of these to all of those. @param list<string> $from addresses  @param list<string> $to  @return callable what ends it */
    public function lose(array $from, array $to, bool $both = true): callable
    {
        $pairs = [];
        foreach ($from as $a) {
            foreach ($to as $b) {
                array_push($pairs, "$a . $b", ...($both ? ["$b . $a"] : []));
            }
        }
        $pairs = array_unique($pairs);
        self::tell('add', array_filter($pairs, fn (string $pair) => ($this->lost[$pair] = ($this->lost[$pair] ?? 0) + 1) === 1));
        return fn () => self::tell('delete', array_filter($pairs, fn (string $pair) => --$this->lost[$pair] === 0));
    }

    private static function tell(string $what, array $pairs): void
    {
        $pairs && Network::nft("$what element inet faults pairs { " . implode(', ', $pairs) . ' }');
    }
}
