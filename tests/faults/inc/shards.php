<?php
/* The nodes of a cluster as they see themselves, and what an operator does with them: moves a slot, and mends where a master is without a replica. */
declare(strict_types=1);

require_once __DIR__ . '/../../inc/topology.inc';

final class Shards
{
    private const ANSWER = 1.0;
    /** Seconds after which Redis has given a master one of another master's replicas, if it does that at all (cluster-migration-barrier): it waits for five. */
    private const BY_ITSELF = 8.0;
    /** Seconds for which slots are given back before the nodes are looked at again. */
    private const AT_A_TIME = 1.0;
    /** Seconds after which something is wrong that does not become right: many storms and calms. */
    public const GIVES_UP = 240.0;

    /** @var array<string, int> by address: since when that master is seen without a replica */
    private array $alone = [];
    /** How many masters there should be: each with one replica. */
    private readonly int $masters;
    /** @var ?array{int, list<string>} the slot that is on its way, and the IDs of the nodes where it goes: of these, another one may be the master then */
    private ?array $move = null;

    /** @param list<string> $addresses of all nodes */
    public function __construct(private readonly array $addresses)
    {
        $this->masters = intdiv(count($addresses), 2);
    }

    /** @return array<string, array{id: string, raw: RedisRaw, master: ?string, slots: string, importing: list<string>}> by address: those that answer */
    public function nodes(): array
    {
        $nodes = [];
        foreach ($this->addresses as $address) {
            try {
                $raw = new RedisRaw($address, null, 'default', self::ANSWER);
                preg_match('/^(\S+) \S+ \S*myself,(\w+)\S* (\S+) \S+ \S+ \S+ \S+ ?(.*)$/m', $raw->cmd('CLUSTER', 'NODES'), $found);
                $slots = trim((string) preg_replace('/\[[^]]*\]/', '', $found[4])); // without those that are on their way
                preg_match_all('/\[(\d+)-<-/', $found[4], $importing);
                $nodes[$address] = ['id' => $found[1], 'raw' => $raw, 'master' => $found[2] === 'master' ? null : $found[3], 'slots' => $slots, 'importing' => $importing[1]];
            } catch (RuntimeException) {
            }
        }
        return $nodes;
    }

    /** What each node says of all, for a message. */
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

    /** Those without a replica. @param array<string, array> $nodes  @return array<string, array> */
    private static function alone(array $nodes, array $masters): array
    {
        return array_filter($masters, fn (array $master) => !in_array($master['id'], array_column($nodes, 'master'), true));
    }

    /** @return list<array{int, int}> first and last */
    private static function ranges(array $node): array
    {
        preg_match_all('/(\d+)(?:-(\d+))?/', $node['slots'], $found, PREG_SET_ORDER);
        return array_map(fn (array $range) => [(int) $range[1], (int) ($range[2] ?? $range[1])], $found);
    }

    /** From here on the slot is on its way to another shard, and must be carried there. False: that cannot begin now. */
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

    /** Goes on with what has been begun. True: it has arrived. */
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
            // Two, where one was replaced and has kept a slot: the keys that have been moved are where the slot is expected.
            $target = array_key_first(array_filter($targets, fn (array $node) => in_array((string) $slot, $node['importing'], true))) ?? array_key_first($targets);
            $this->areAllIn($nodes) && $this->move[1] = self::shard($nodes, $target);
            $others = array_column(array_diff_key($masters, [$owner => 0, $target => 0]), 'raw');
            move_slot($slot, $nodes[$owner]['raw'], $nodes[$target]['raw'], $target, $others, $pause);
        }
        $this->move = null;
        return true;
    }

    /**
     * A master that was replaced while one of its slots was on its way sees the last of its slots at the master that it was moved to, and follows that one;
     * or it is left with nothing and follows nobody. The one that has replaced it is without a replica then. Redis takes a replica from where there are two;
     * what it leaves, and a master without slots, is told here whom to follow. One to which a slot was moved just before, so that its successor did not
     * know of that, keeps this slot, and is a master too many, for good: it gives the slot back here.
     * True: all nodes are there, and each master has slots and a replica.
     * @param ?Closure $note (string $kind, string|int $target): void
     */
    public function mend(?Closure $note = null): bool
    {
        if ($this->move) { // where a slot is on its way nothing else is done: a master that gets keys may seem to be without slots
            $this->give($note);
            return false;
        }
        $nodes = $this->nodes();
        $masters = self::masters($nodes);
        if (!$this->areAllIn($nodes) || !self::haveEachSlotOnce($masters)) { // one that was replaced may not know yet: nobody must follow it
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
                $node['master'] === null && $node['raw']->cmd('FLUSHALL'); // it may have got some keys of a slot
                $node['raw']->cmd('CLUSTER', 'REPLICATE', $master['id']);
                $note && $note('replica for a master without one', $address);
                return false;
            }
        }
        return !$spare && !$alone;
    }

    /** The master with the fewest slots gives them away: to one without a replica, which it follows then. What takes longer goes on with the next call. */
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
