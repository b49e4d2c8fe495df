<?php
/* From the times of single sections to figures of a run, and from the runs of all rounds to medians. */
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
 * The figures of one run, times in µs.
 *
 * A hand-over is counted where the next holder was already waiting when the last one began to give the lock back, and lasts
 * from then until the next one has it. An overlap is a section that began before the one before it had ended.
 *
 * @param list<array{int, int, int, int}> $sections in ns: began to ask, had it, began to give it back, had given it back
 * @return array<string, ?float>
 */
function figures(array $sections): array
{
    usort($sections, fn ($a, $b) => $a[1] <=> $b[1]);
    $pairs = $waits = $handovers = [];
    $overlaps = 0;
    $last = null; // the end of the section before
    foreach ($sections as [$began, $had, $giving, $gave]) {
        $waits[] = ($had - $began) / 1e3;
        $pairs[] = ($had - $began + $gave - $giving) / 1e3;
        if ($last !== null) {
            $overlaps += $had < $last ? 1 : 0;
            if ($began < $last) {
                $handovers[] = ($had - $last) / 1e3;
            }
        }
        $last = $giving;
    }
    sort($pairs);
    sort($waits);
    sort($handovers);
    $elapsed = max(array_column($sections, 3)) - min(array_column($sections, 0));
    return [
        'sections' => (float) count($sections),
        'sections_per_s' => count($sections) / ($elapsed / 1e9),
        'pair_p50' => percentile($pairs, 0.5),
        'pair_p99' => percentile($pairs, 0.99),
        'wait_p50' => percentile($waits, 0.5),
        'wait_p99' => percentile($waits, 0.99),
        'wait_max' => percentile($waits, 1),
        'handover_p50' => percentile($handovers, 0.5),
        'handover_p99' => percentile($handovers, 0.99),
        'overlaps' => (float) $overlaps,
    ];
}

/** All runs: figures by way, processes and round. */
final class Runs
{
    /** @var array<string, array<int|string, array<int, array<string, ?float>>>> */
    private array $runs = [];

    /** @param int|string $processes or "alone" */
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

    /** By way, processes and figure: the medians of the rounds, but sums of sections and overlaps. @return array<string, array<int|string, array<string, ?float>>> */
    public function medians(): array
    {
        $of_rounds = function (array $rounds) {
            $medians = [];
            foreach (array_keys(current($rounds)) as $figure) {
                $values = array_filter(array_column($rounds, $figure), 'is_float');
                $medians[$figure] = in_array($figure, ['sections', 'overlaps'], true) ? array_sum($values) : median($values);
            }
            return $medians;
        };
        return array_map(fn ($of_way) => array_map($of_rounds, $of_way), $this->runs);
    }

    /**
     * The ratio in each round that has both. "figure@2" is the figure with 2 processes.
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

    /** One line for each run. @return iterable<array<string, int|string|float|null>> */
    public function rows(): iterable
    {
        foreach ($this->runs as $way => $by_processes) {
            foreach ($by_processes as $processes => $rounds) {
                foreach ($rounds as $round => $figures) {
                    yield ['way' => $way, 'processes' => $processes, 'round' => $round] + $figures;
                }
            }
        }
    }
}
