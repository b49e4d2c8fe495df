<?php
/* Moves slots of a cluster under faults, one at a time: a line of JSON on its input is a slot and a pause. What has been begun is done to its end: a slot
 * that is given up in the middle loses the keys that have been moved already. Ends when its input does.
 *
 *   php mover.php CONFIG      JSON: addresses, dir */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/network.php';
require __DIR__ . '/../tests/inc/topology.inc';

final class Mover
{
    private const ANSWER = 1.0;

    /** @param list<string> $addresses */
    public function __construct(private readonly array $addresses, private readonly Journal $journal)
    {
    }

    public function move(int $slot, float $pause): void
    {
        $from = nanoseconds();
        $shards = $this->persist(fn () => $this->choose($slot));
        $this->persist(fn () => $this->carry($slot, $shards, $pause));
        $this->journal->write('fault', ['kind' => 'slot moves', 'target' => $slot, 't0' => $from, 't1' => nanoseconds()]);
    }

    private function persist(callable $do): mixed
    {
        for (;;) {
            try {
                if ($result = $do()) {
                    return $result;
                }
            } catch (RuntimeException) {
            }
            usleep(50_000);
        }
    }

    /** @return array<string, array{id: string, raw: RedisRaw, master: ?string, slots: string}> by address: those that answer, as they see themselves */
    private function nodes(): array
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

    private static function has(array $node, int $slot): bool
    {
        foreach (explode(' ', $node['slots']) as $range) {
            if (preg_match('/^(\d+)(?:-(\d+))?$/', $range, $found) && $slot >= (int) $found[1] && $slot <= (int) ($found[2] ?? $found[1])) {
                return $node['master'] === null;
            }
        }
        return false;
    }

    /** @param array<string, array> $nodes  @return array<string, array> */
    private static function masters(array $nodes): array
    {
        return array_filter($nodes, fn (array $node) => $node['master'] === null && $node['slots'] !== '');
    }

    /**
     * A master that was replaced while one of its slots was on its way may be left alone with nothing, and the new one without a replica: it becomes that.
     * True: all nodes are there, and there is none like that.
     */
    private function mend(): bool
    {
        $nodes = $this->nodes();
        $masters = self::masters($nodes);
        $alone = array_values(array_filter($masters, fn (array $master) => !in_array($master['id'], array_column($nodes, 'master'), true)));
        $idle = array_filter($nodes, fn (array $node) => $node['master'] === null && $node['slots'] === '');
        if (count($nodes) < count($this->addresses) || !$idle || !$alone) {
            return count($nodes) === count($this->addresses) && !$idle;
        }
        $node = array_values($idle)[0]['raw'];
        $node->cmd('FLUSHALL'); // it may have got some keys of that slot
        $node->cmd('CLUSTER', 'REPLICATE', $alone[0]['id']);
        return false;
    }

    public function finish(): void
    {
        $this->persist($this->mend(...));
    }

    /** The master that has the slot. @param array<string, array> $nodes */
    private function owner(array $nodes, int $slot): ?string
    {
        $owners = array_filter($nodes, fn (array $node) => self::has($node, $slot));
        return count($owners) === 1 ? array_key_first($owners) : null;
    }

    /** Whereto: the nodes of another shard, of which the master may change on the way. @return list<string> IDs */
    private function choose(int $slot): ?array
    {
        $this->mend();
        $nodes = $this->nodes();
        $owner = $this->owner($nodes, $slot);
        $masters = array_keys(self::masters($nodes));
        if ($owner === null || count($nodes) < count($this->addresses) || count($masters) < 3) {
            return null;
        }
        $target = $nodes[$masters[(array_search($owner, $masters, true) + 1) % count($masters)]]['id'];
        return array_column(array_filter($nodes, fn (array $node) => $node['id'] === $target || $node['master'] === $target), 'id');
    }

    /** @param list<string> $shard  True: it has arrived. */
    private function carry(int $slot, array $shard, float $pause): bool
    {
        $nodes = $this->nodes();
        $owner = $this->owner($nodes, $slot);
        $masters = self::masters($nodes);
        $targets = array_filter($masters, fn (array $node) => in_array($node['id'], $shard, true));
        if ($owner === null || count($targets) !== 1) {
            return false;
        }
        $target = array_key_first($targets);
        if ($owner === $target) {
            settle_slot($slot, array_column($masters, 'raw'));
            return true;
        }
        $others = array_column(array_diff_key($masters, [$owner => 0, $target => 0]), 'raw');
        move_slot($slot, $nodes[$owner]['raw'], $nodes[$target]['raw'], $target, array_values($others), $pause);
        return true;
    }
}

Network::mayLosePackets() && Partitions::pass();
['addresses' => $addresses, 'dir' => $dir] = json_decode($argv[1], true, flags: JSON_THROW_ON_ERROR);
$mover = new Mover($addresses, new Journal("$dir/history/mover.jsonl"));
while (($line = fgets(STDIN)) !== false) {
    ['slot' => $slot, 'pause' => $pause] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    $mover->move($slot, $pause);
}
$mover->finish();
