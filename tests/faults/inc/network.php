<?php
declare(strict_types=1);

/**
 * Loses packets, by nftables, while the proxy only holds them back. A connection that ends meanwhile stays half open,
 * and TCP delivers lost data late, by repeating it. It needs a network namespace of its own, which faults.sh creates if
 * it may.
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
     * @return ?callable what ends it; null: some are already under such a fault
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
 * Loses packets between any two hosts. Each server has an address of its own and makes its connections from there.
 * Clients have two addresses. Four in five connections from 127.0.0.1 are redirected to the server's relay, and the
 * relay connects from 127.0.0.2. So neither Sentinels nor nodes of a cluster, which tell clients where servers are,
 * need to know relays. The run itself uses 127.0.0.3, and its packets are never lost.
 */
final class Partitions
{
    public const CLIENTS = ['127.0.0.1', self::RELAY];
    public const RELAY = '127.0.0.2';
    private const RUN = '127.0.0.3';

    /** @var array<string, int> by "from . to": how many active faults lose these packets */
    private array $lost = [];

    /** From now on, no fault affects new connections of this process. */
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

    /**
     * Loses packets from all of $from to all of $to. @param list<string> $from addresses  @param list<string> $to
     * @return callable what ends it
     */
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
