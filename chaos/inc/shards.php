<?php
/* The nodes of a cluster as they see themselves, and what an operator does where one of its masters is without a replica. */
declare(strict_types=1);

require_once __DIR__ . '/../../tests/inc/topology.inc';

final class Shards
{
    private const ANSWER = 1.0;
    /** Seconds after which Redis has given a master one of another master's replicas, if it does that at all (cluster-migration-barrier): it waits for five. */
    private const BY_ITSELF = 8.0;

    /** @var array<string, int> by address: since when that master is seen without a replica */
    private array $alone = [];

    /** @param list<string> $addresses of all nodes */
    public function __construct(private readonly array $addresses)
    {
    }

    /** @return array<string, array{id: string, raw: RedisRaw, master: ?string, slots: string}> by address: those that answer */
    public function nodes(): array
    {
        $nodes = [];
        foreach ($this->addresses as $address) {
            try {
                $raw = new RedisRaw($address, null, 'default', self::ANSWER);
                preg_match('/^(\S+) \S+ \S*myself,(\w+)\S* (\S+) \S+ \S+ \S+ \S+ ?(.*)$/m', $raw->cmd('CLUSTER', 'NODES'), $found);
                $slots = trim((string) preg_replace('/\[[^]]*\]/', '', $found[4])); // without those that are on their way
                $nodes[$address] = ['id' => $found[1], 'raw' => $raw, 'master' => $found[2] === 'master' ? null : $found[3], 'slots' => $slots];
            } catch (RuntimeException) {
            }
        }
        return $nodes;
    }

    /** Do all nodes answer? @param array<string, array> $nodes */
    public function areAllIn(array $nodes): bool
    {
        return count($nodes) === count($this->addresses);
    }

    /** Those with slots. @param array<string, array> $nodes  @return array<string, array> */
    public static function masters(array $nodes): array
    {
        return array_filter($nodes, fn (array $node) => $node['master'] === null && $node['slots'] !== '');
    }

    /** The master that has the slot; null: none, or two think so. @param array<string, array> $nodes */
    public static function owner(array $nodes, int $slot): ?string
    {
        $owners = array_filter(self::masters($nodes), fn (array $node) => array_filter(self::ranges($node), fn (array $range) => $slot >= $range[0] && $slot <= $range[1]));
        return count($owners) === 1 ? array_key_first($owners) : null;
    }

    /** @return list<array{int, int}> first and last */
    private static function ranges(array $node): array
    {
        preg_match_all('/(\d+)(?:-(\d+))?/', $node['slots'], $found, PREG_SET_ORDER);
        return array_map(fn (array $range) => [(int) $range[1], (int) ($range[2] ?? $range[1])], $found);
    }

    /**
     * A master that was replaced while one of its slots was on its way sees the last of its slots at the master that it was moved to, and follows that one;
     * or it is left with nothing and follows nobody. The one that has replaced it is without a replica then. Redis takes a replica from where there are two;
     * what it leaves, and a master without slots, is told here whom to follow.
     * True: all nodes are there, and each master has slots and a replica.
     */
    public function mend(?Closure $note = null): bool
    {
        $nodes = $this->nodes();
        $masters = self::masters($nodes);
        $slots = array_sum(array_map(fn (array $master) => array_sum(array_map(fn (array $range) => $range[1] - $range[0] + 1, self::ranges($master))), $masters));
        if (!$this->areAllIn($nodes) || $slots !== REDIS_SLOTS) { // one that was replaced may not know yet: nobody must follow it
            return false;
        }
        $spare = self::spare($nodes, $masters);
        $alone = array_filter($masters, fn (array $master) => !in_array($master['id'], array_column($nodes, 'master'), true));
        $this->alone = array_intersect_key($this->alone, $alone) + array_fill_keys(array_keys($alone), nanoseconds());
        foreach ($alone as $address => $master) {
            $node = $spare[0] ?? null;
            if ($node && ($node['master'] === null || nanoseconds() - $this->alone[$address] > self::BY_ITSELF * 1e9)) {
                $node['master'] === null && $node['raw']->cmd('FLUSHALL'); // it may have got some keys of a slot
                $node['raw']->cmd('CLUSTER', 'REPLICATE', $master['id']);
                $note && $note($address);
                return false;
            }
        }
        return !$spare && !$alone;
    }

    /** Masters without slots, and replicas of such as have another one, or of none that has slots. @param array<string, array> $nodes  @return list<array> */
    private static function spare(array $nodes, array $masters): array
    {
        $idle = array_filter($nodes, fn (array $node) => $node['master'] === null && $node['slots'] === '');
        $needed = [];
        foreach ($nodes as $address => $node) {
            if (in_array($node['master'], array_column($masters, 'id'), true)) {
                $needed[$node['master']] ??= $address;
            }
        }
        return array_values($idle + array_diff_key($nodes, $masters, array_flip($needed)));
    }
}
