<?php
/* Moves slots of a cluster under faults, one at a time: a line of JSON on its input is a slot and a pause. What has been begun is done to its end: a slot
 * that is given up in the middle loses the keys that have been moved already. What comes late, since the one before took long, is left. Between two it sees to
 * it that each master has a replica. Ends when its input does.
 *
 *   php mover.php CONFIG      JSON: addresses, dir */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/network.php';
require __DIR__ . '/inc/shards.php';

const LATE = 5_000_000_000; // nanoseconds

final class Mover
{
    private readonly Shards $shards;

    /** @param list<string> $addresses */
    public function __construct(array $addresses, private readonly Journal $journal)
    {
        $this->shards = new Shards($addresses);
    }

    public function move(int $slot, float $pause): void
    {
        $from = nanoseconds();
        $shard = $this->persist(fn () => $this->choose($slot));
        $this->persist(fn () => $this->carry($slot, $shard, $pause));
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

    /** True: each master has a replica. */
    public function mend(): bool
    {
        try {
            return $this->shards->mend(fn (string $master) => $this->journal->write('fault',
                ['kind' => 'replica for a master without one', 'target' => $master, 't0' => nanoseconds(), 't1' => nanoseconds()]));
        } catch (RuntimeException) {
            return false;
        }
    }

    /** Whereto: the nodes of another shard, of which the master may change on the way. @return list<string> IDs */
    private function choose(int $slot): ?array
    {
        if (!$this->mend()) {
            return null;
        }
        $nodes = $this->shards->nodes();
        $owner = Shards::owner($nodes, $slot);
        $masters = array_keys(Shards::masters($nodes));
        if ($owner === null || !$this->shards->areAllIn($nodes) || count($masters) < 3) {
            return null;
        }
        $target = $nodes[$masters[(array_search($owner, $masters, true) + 1) % count($masters)]]['id'];
        return array_column(array_filter($nodes, fn (array $node) => $node['id'] === $target || $node['master'] === $target), 'id');
    }

    /** @param list<string> $shard  True: it has arrived. */
    private function carry(int $slot, array $shard, float $pause): bool
    {
        $nodes = $this->shards->nodes();
        $owner = Shards::owner($nodes, $slot);
        $masters = Shards::masters($nodes);
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
for (;;) {
    [$input, $none] = [[STDIN], null];
    if (!stream_select($input, $none, $none, 1)) {
        $mover->mend();
        continue;
    }
    if (($line = fgets(STDIN)) === false) {
        break;
    }
    ['slot' => $slot, 'pause' => $pause, 'at' => $at] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    if (nanoseconds() < $at + LATE) {
        $mover->move($slot, $pause);
    }
}
