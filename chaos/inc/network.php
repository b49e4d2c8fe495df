<?php
declare(strict_types=1);

/**
 * Loses packets, by nftables: unlike the proxy, which only holds them up. A connection that ends meanwhile stays half open, and
 * what was lost comes late, when TCP repeats it. Only in a network namespace of this run's own, which chaos.sh makes where it may.
 */
final class Network
{
    /** @var array<int, true> ports whose packets are lost now */
    private array $lost = [];

    public static function mayLosePackets(): bool
    {
        return getenv('DLOCK_CHAOS_NETWORK') === '1';
    }

    public function __construct()
    {
        self::nft('add table inet chaos; add chain inet chaos arrivals { type filter hook input priority 0; }',
            ...array_map(fn (string $set, string $port) => "add set inet chaos $set { type inet_service; }; add rule inet chaos arrivals tcp $port @$set drop",
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
        $all = fn (string $what) => self::nft(...array_map(fn (string $set) => "$what element inet chaos $set { " . implode(', ', $ports) . ' }', $sets));
        $all('add');
        return function () use ($all, $ports) {
            $all('delete');
            $this->lost = array_diff_key($this->lost, array_flip($ports));
        };
    }

    private static function nft(string ...$commands): void
    {
        exec('PATH="$PATH:/usr/sbin" nft ' . escapeshellarg(implode('; ', $commands)) . ' 2>&1', $output, $code);
        $code === 0 || throw new RuntimeException('nft: ' . implode("\n", $output));
    }
}
