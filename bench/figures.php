<?php
/* Computes the figures of a run from the times of its sections, and medians from the runs of all rounds. */
declare(strict_types=1);

/** @param list<int|float> $sorted */
function percentile(array $sorted, float $share): ?float
{
    return $sorted === [] ? null : (float) $sorted[(int) round((count($sorted) - 1) * $share)];
}

/** @param list<int|float> $values */
function median(array $values): ?float
{
    sort($values);
    $middle = intdiv(count($values), 2);
    return match (true) {
        $values === [] => null,
        count($values) % 2 === 1 => (float) $values[$middle],
        default => ($values[$middle - 1] + $values[$middle]) / 2,
    };
}

/**
 * How many processes, at most, asked later than another process and acquired the lock earlier.
 * @param list<array{int, int, int, int, int}> $sections in the order of acquisition
 * @param array<int, true> $left_out sections that are not looked at
 */
function overtaken(array $sections, array $left_out): int
{
    $most = 0;
    foreach (array_diff_key($sections, $left_out) as $i => [, $began]) {
        $count = 0;
        for ($before = $i - 1; $before >= 0 && $sections[$before][2] > $began; $before--) {
            $count += $sections[$before][1] > $began ? 1 : 0;
        }
        $most = max($most, $count);
    }
    return $most;
}

/** The first section of each process; none if each process has only one. @return array<int, true> by index */
function first_ones(array $sections): array
{
    $first = [];
    foreach ($sections as $i => [$process]) {
        $first[$process] ??= $i;
    }
    return count($first) === count($sections) ? [] : array_fill_keys($first, true);
}

/**
 * Under one lock: how long each handover takes, in ns, and how many sections overlap. A handover counts if the next
 * holder already waits when the holder starts to release the lock. It lasts from then until the next holder has the
 * lock. A section overlaps if it begins before the previous section has ended.
 *
 * @param list<array{int, int, int, int, int}> $sections in the order of acquisition
 * @return array{list<int>, int} handovers, sorted; overlaps
 */
function handovers(array $sections): array
{
    $handovers = [];
    $overlaps = 0;
    $last = null; // the end of the previous section
    foreach ($sections as [, $began, $had, $giving]) {
        if ($last !== null) {
            $overlaps += $had < $last ? 1 : 0;
            if ($began < $last) {
                $handovers[] = $had - $last;
            }
        }
        $last = $giving;
    }
    sort($handovers);
    return [$handovers, $overlaps];
}

/**
 * The figures of one run, times in µs. The first section of each process does not count for waits, pairs and
 * overtaking. All processes begin at once, and one of them may lose the CPU between reading the clock and sending its
 * request: then it comes last.
 *
 * @param list<array{int, int, int, int, int}> $sections process; in ns: starts to acquire, has acquired, starts to
 * release, has released
 * @param array{cpu: float, in: int, out: int}|null $used by the servers, if known
 * @param bool $apart each process has a lock of its own
 * @return array<string, ?float>
 */
function figures(array $sections, ?array $used, bool $apart): array
{
    usort($sections, fn ($a, $b) => $a[2] <=> $b[2]);
    $left_out = first_ones($sections);
    $pairs = $waits = [];
    foreach (array_diff_key($sections, $left_out) as [, $began, $had, $giving, $gave]) {
        $waits[] = ($had - $began) / 1e3;
        $pairs[] = ($had - $began + $gave - $giving) / 1e3;
    }
    sort($pairs);
    sort($waits);
    [$handovers, $overlaps] = $apart ? [[], 0] : handovers($sections);
    $elapsed = max(array_column($sections, 4)) - min(array_column($sections, 1));
    $microseconds = fn (?float $ns) => $ns === null ? null : $ns / 1e3;
    $for_each = fn (string $what) => $used === null ? null : (float) ($used[$what] / count($sections));
    return [
        'sections' => (float) count($sections),
        'sections_per_s' => count($sections) / ($elapsed / 1e9),
        'pair_p50' => percentile($pairs, 0.5),
        'pair_p99' => percentile($pairs, 0.99),
        'wait_p50' => percentile($waits, 0.5),
        'wait_p99' => percentile($waits, 0.99),
        'wait_max' => percentile($waits, 1),
        'handover_p50' => $microseconds(percentile($handovers, 0.5)),
        'handover_p99' => $microseconds(percentile($handovers, 0.99)),
        'overtaken' => $apart ? null : (float) overtaken($sections, $left_out),
        'overlaps' => (float) $overlaps,
        'server_us' => $for_each('cpu'),
        'per_core_s' => $used === null ? null : count($sections) / ($used['cpu'] / 1e6),
        'bytes_in' => $for_each('in'),
        'bytes_out' => $for_each('out'),
    ];
}

/** All runs: figures by way, processes and round. */
final class Runs
{
    /** @var array<string, array<int|string, array<int, array<string, ?float>>>> */
    private array $runs = [];

    /** @param int|string $processes or a word of plan.php, for example "alone" */
    public function add(string $way, int|string $processes, int $round, array $figures): void
    {
        $this->runs[$way][$processes][$round] = $figures;
    }

    /** @return list<int> the numbers of processes that a way was measured with */
    public function processes(string $way): array
    {
        $numbers = array_filter(array_keys($this->runs[$way] ?? []), 'is_int');
        sort($numbers);
        return $numbers;
    }

    /**
     * By way, processes and figure: the medians of the rounds. Sections and overlaps are summed; of overtakers, the
     * most count.
     * @return array<string, array<int|string, array<string, ?float>>>
     */
    public function medians(): array
    {
        $of_rounds = function (array $rounds) {
            $medians = [];
            foreach (array_keys(current($rounds)) as $figure) {
                $values = array_filter(array_column($rounds, $figure), 'is_float');
                $medians[$figure] = match ($figure) {
                    'sections', 'overlaps' => array_sum($values),
                    'overtaken' => $values === [] ? null : max($values),
                    default => median($values),
                };
            }
            return $medians;
        };
        return array_map(fn ($of_way) => array_map($of_rounds, $of_way), $this->runs);
    }

    /**
     * The ratio in each round that has both figures. "figure@2" is the figure with 2 processes.
     * @return list<float>
     */
    public function ratios(string $way, string $figure, string $to_way, string $to_figure, int|string $processes): array
    {
        [$to_figure, $to_processes] = explode('@', "$to_figure@$processes");
        $ratios = [];
        foreach ($this->runs[$way][$processes] ?? [] as $round => $figures) {
            $to = $this->runs[$to_way][$to_processes][$round][$to_figure] ?? null;
            if ($to > 0 && $figures[$figure] !== null) {
                $ratios[] = $figures[$figure] / $to;
            }
        }
        return $ratios;
    }

    /**
     * One row for each run, of requests to php-fpm or of everything else.
     * @return iterable<array<string, int|string|float|null>>
     */
    public function rows(bool $requests): iterable
    {
        foreach ($this->runs as $way => $by_processes) {
            foreach ($by_processes as $processes => $rounds) {
                if (($processes === 'request') !== $requests) {
                    continue;
                }
                foreach ($rounds as $round => $figures) {
                    yield ['way' => $way, 'processes' => $processes, 'round' => $round] + $figures;
                }
            }
        }
    }
}
