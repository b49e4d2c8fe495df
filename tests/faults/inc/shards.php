<?php
/* The nodes of a cluster as they see themselves, and what an operator does with them: moves slots, and repairs a master
 * without a replica. */
declare(strict_types=1);

require_once __DIR__ . '/../../inc/topology.inc';

final class Shards
{
    private const ANSWER = 1.0;
    /**
     * Seconds after which Redis, if at all, has given a master another master's spare replica
     * (cluster-migration-barrier). It waits for five.
     */
    private const BY_ITSELF = 8.0;
    /** Seconds for which slots are moved back before the nodes are read again. */
    private const AT_A_TIME = 1.0;
    /** Seconds after which a step will not succeed any more: many storms and calms. */
    public const GIVES_UP = 240.0;

    /** @var array<string, int> by address: since when that master has had no replica */
    private array $alone = [];
    /** How many masters there should be, each with one replica. */
    private readonly int $masters;
    /**
     * @var ?array{int, list<string>} the slot that is moving, and the IDs of the target and its replicas, one of which
     * may be the master by then
     */
    private ?array $move = null;

    /** @param list<string> $addresses of all nodes */
    public function __construct(private readonly array $addresses)
    {
        $this->masters = intdiv(count($addresses), 2);
    }

    /**
     * @return array<string, array{id: string, raw: RedisRaw, master: ?string, slots: string, importing: list<string>}>
     * by address: the nodes that answer
     */
    public function nodes(): array
    {
        $nodes = [];
        foreach ($this->addresses as $address) {
            try {
                $raw = new RedisRaw($address, null, 'default', self::ANSWER);
                preg_match('/^(\S+) \S+ \S*myself,(\w+)\S* (\S+) \S+ \S+ \S+ \S+ ?(.*)$/m', $raw->cmd('CLUSTER', 'NODES'), $found);
                // Without slots that are moving.
                $slots = trim((string) preg_replace('/\[[^]]*\]/', '', $found[4]));
                preg_match_all('/\[(\d+)-<-/', $found[4], $importing);
                $nodes[$address] = ['id' => $found[1], 'raw' => $raw, 'master' => $found[2] === 'master' ? null : $found[3], 'slots' => $slots, 'importing' => $importing[1]];
            } catch (RuntimeException) {
            }
        }
        return $nodes;
    }

    /** What each node reports of all nodes, for a message. */
    public function state(): string
    {
        $state = '';
        foreach ($this->addresses as $address) {
            try {
                $state .= "$address:\n" . (new RedisRaw($address, null, 'default', self::ANSWER))->cmd('CLUSTER', 'NODES');
            } catch (RuntimeException $e) {
                $state .= "$address: {$e->getMessage()}\n";
            }
        }
        return $state;
    }

    /** Do all nodes answer? @param array<string, array> $nodes */
    public function areAllIn(array $nodes): bool
    {
        return count($nodes) === count($this->addresses);
    }

    /** Masters with slots. @param array<string, array> $nodes  @return array<string, array> */
    public static function masters(array $nodes): array
    {
        return array_filter($nodes, fn (array $node) => $node['master'] === null && $node['slots'] !== '');
    }

    /** The master that has the slot; null: none, or two claim it. @param array<string, array> $nodes */
    public static function owner(array $nodes, int $slot): ?string
    {
        $owners = array_filter(self::masters($nodes), fn (array $node) => array_filter(self::ranges($node), fn (array $range) => $slot >= $range[0] && $slot <= $range[1]));
        return count($owners) === 1 ? array_key_first($owners) : null;
    }

    /** @param array<string, array> $masters */
    private static function haveEachSlotOnce(array $masters): bool
    {
        $ranges = array_merge(...array_values(array_map(self::ranges(...), $masters)));
        sort($ranges);
        $next = 0;
        foreach ($ranges as [$first, $last]) {
            if ($first !== $next) {
                return false;
            }
            $next = $last + 1;
        }
        return $next === REDIS_SLOTS;
    }

    /** @return list<int> */
    private static function slots(array $node): array
    {
        return array_merge(...array_map(fn (array $range) => range(...$range), self::ranges($node)));
    }

    /** The master with this address, and its replicas. @param array<string, array> $nodes  @return list<string> IDs */
    private static function shard(array $nodes, string $master): array
    {
        $id = $nodes[$master]['id'];
        return array_column(array_filter($nodes, fn (array $node) => $node['id'] === $id || $node['master'] === $id), 'id');
    }

    /** Masters without a replica. @param array<string, array> $nodes  @return array<string, array> */
    private static function alone(array $nodes, array $masters): array
    {
        return array_filter($masters, fn (array $master) => !in_array($master['id'], array_column($nodes, 'master'), true));
    }

    /** @return list<array{int, int}> first and last slot */
    private static function ranges(array $node): array
    {
        preg_match_all('/(\d+)(?:-(\d+))?/', $node['slots'], $found, PREG_SET_ORDER);
        return array_map(fn (array $range) => [(int) $range[1], (int) ($range[2] ?? $range[1])], $found);
    }

    /** Begins to move the slot to another shard; carry() must complete that. False: it cannot begin now. */
    public function begin(int $slot): bool
    {
        $nodes = $this->nodes();
        $owner = self::owner($nodes, $slot);
        $masters = array_keys(self::masters($nodes));
        if ($owner === null || !$this->areAllIn($nodes) || count($masters) < $this->masters) {
            return false;
        }
        $this->move = [$slot, self::shard($nodes, $masters[(array_search($owner, $masters, true) + 1) % count($masters)])];
        return true;
    }

    /** Continues the move. True: the slot has arrived. */
    public function carry(float $pause = 0): bool
    {
        [$slot, $shard] = $this->move;
        $nodes = $this->nodes();
        $owner = self::owner($nodes, $slot);
        $masters = self::masters($nodes);
        $targets = array_filter($masters, fn (array $node) => in_array($node['id'], $shard, true));
        if ($owner === null || !$targets) {
            return false;
        }
        if (isset($targets[$owner])) {
            settle_slot($slot, array_column($masters, 'raw'));
        } else {
            // There are two targets if a master was demoted and kept a slot. The keys already moved are on the target
            // that imports the slot.
            $target = array_key_first(array_filter($targets, fn (array $node) => in_array((string) $slot, $node['importing'], true))) ?? array_key_first($targets);
            $this->areAllIn($nodes) && $this->move[1] = self::shard($nodes, $target);
            $others = array_column(array_diff_key($masters, [$owner => 0, $target => 0]), 'raw');
            move_slot($slot, $nodes[$owner]['raw'], $nodes[$target]['raw'], $target, $others, $pause);
        }
        $this->move = null;
        return true;
    }

    /**
     * A master may be demoted while one of its slots moves. If it learns of that slot last, it follows the target of
     * the move; if it has no slots left, it follows no master. Either way its successor has no replica. Redis gives it
     * one from a master with two; otherwise this function gives it a spare node.
     * If a master received a slot just before it was demoted, its successor does not know of that. The demoted master
     * keeps this slot and stays a master, one too many. This function moves the slot to the successor.
     * True: all nodes answer, and each master has slots and a replica.
     * @param ?Closure $note (string $kind, string|int $target): void
     */
    public function mend(?Closure $note = null): bool
    {
        // While a slot moves, nothing else is done: a master that is receiving keys may seem to have no slots.
        if ($this->move) {
            $this->give($note);
            return false;
        }
        $nodes = $this->nodes();
        $masters = self::masters($nodes);
        // A demoted master may not know it yet: no node must follow it.
        if (!$this->areAllIn($nodes) || !self::haveEachSlotOnce($masters)) {
            return false;
        }
        if (count($masters) > $this->masters) {
            $this->reduce($nodes, $masters, $note);
            return false;
        }
        $spare = self::spare($nodes, $masters);
        $alone = self::alone($nodes, $masters);
        $this->alone = array_intersect_key($this->alone, $alone) + array_fill_keys(array_keys($alone), nanoseconds());
        foreach ($alone as $address => $master) {
            $node = $spare[0] ?? null;
            if ($node && ($node['master'] === null || nanoseconds() - $this->alone[$address] > self::BY_ITSELF * 1e9)) {
                $node['master'] === null && $node['raw']->cmd('FLUSHALL'); // it may have received some keys of a slot
                $node['raw']->cmd('CLUSTER', 'REPLICATE', $master['id']);
                $note && $note('replica for a master without one', $address);
                return false;
            }
        }
        return !$spare && !$alone;
    }

    /**
     * Moves the slots of the master with the fewest to a master without a replica, which it follows then. The next call
     * continues.
     */
    private function reduce(array $nodes, array $masters, ?Closure $note): void
    {
        uasort($masters, fn (array $a, array $b) => count(self::slots($a)) <=> count(self::slots($b)));
        $others = array_slice($masters, 1);
        $target = array_key_first(self::alone($nodes, $others)) ?? array_key_first($others);
        $until = nanoseconds() + self::AT_A_TIME * 1e9;
        foreach (self::slots(reset($masters)) as $slot) {
            settle_slot($slot, array_column($masters, 'raw'));
            $this->move = [$slot, self::shard($nodes, $target)];
            if (!$this->give($note) || nanoseconds() > $until) {
                return;
            }
        }
    }

    private function give(?Closure $note): bool
    {
        [$slot] = $this->move;
        $arrived = $this->carry();
        $arrived && $note && $note('slot of a master too many is given back', $slot);
        return $arrived;
    }

    /**
     * Masters without slots; replicas of a master that has another replica, or has no slots.
     * @param array<string, array> $nodes
     * @return list<array>
     */
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
