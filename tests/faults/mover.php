<?php
/* Moves slots of a cluster under faults, one at a time: a line of JSON on its input has a slot and a pause. It
 * completes each move, because an abandoned move loses the keys that were already moved. It skips a line that waited
 * for more than LATE. Between two moves it ensures that each master has a replica. After the end of its input it ends
 * once that is so. If a step does not succeed within minutes, it ends with an error.
 *
 *   php mover.php CONFIG      JSON: addresses, dir */
declare(strict_types=1);

require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/network.php';
require __DIR__ . '/inc/shards.php';

const LATE = 5_000_000_000; // ns

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
        $this->persist(fn () => $this->shards->mend($this->note(...)) && $this->shards->begin($slot), "slot $slot to begin its way");
        $this->persist(fn () => $this->shards->carry($pause), "slot $slot to arrive");
        $this->journal->write('fault', ['kind' => 'slot moves', 'target' => $slot, 't0' => $from, 't1' => nanoseconds()]);
    }

    public function end(): void
    {
        $this->persist(fn () => $this->shards->mend($this->note(...)), 'each master to have a replica');
    }

    public function mend(): void
    {
        try {
            $this->shards->mend($this->note(...));
        } catch (RuntimeException) {
        }
    }

    /** Repeats $do until it returns true; throws after minutes without success. */
    private function persist(callable $do, string $what): void
    {
        $error = null;
        $from = nanoseconds();
        while (nanoseconds() - $from < Shards::GIVES_UP * 1e9) {
            try {
                if ($do()) {
                    return;
                }
            } catch (RuntimeException $error) {
            }
            usleep(50_000);
        }
        throw new RuntimeException(sprintf("waited %.0f s for %s%s\n%s", Shards::GIVES_UP, $what, $error ? ", lastly: {$error->getMessage()}" : '', $this->shards->state()));
    }

    private function note(string $kind, string|int $target): void
    {
        $this->journal->write('fault', ['kind' => $kind, 'target' => $target, 't0' => nanoseconds(), 't1' => nanoseconds()]);
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
        $mover->end();
        break;
    }
    ['slot' => $slot, 'pause' => $pause, 'at' => $at] = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
    if (nanoseconds() < $at + LATE) {
        $mover->move($slot, $pause);
    }
}
