<?php
/* Tables for people. */
declare(strict_types=1);

/** @param list<list<string>> $rows the first one is the heads */
function table(string $title, array $rows): void
{
    $widths = [];
    foreach ($rows as $row) {
        foreach ($row as $i => $cell) {
            $widths[$i] = max($widths[$i] ?? 0, characters($cell));
        }
    }
    echo "\n$title\n\n";
    foreach ($rows as $n => $row) {
        $line = '';
        foreach ($row as $i => $cell) {
            $spaces = str_repeat(' ', $widths[$i] - characters($cell));
            $line .= $i === 0 ? $cell . $spaces : "  $spaces$cell";
        }
        echo rtrim($line), "\n", $n === 0 ? str_repeat('─', array_sum($widths) + 2 * count($widths) - 2) . "\n" : '';
    }
}

/** mbstring may be absent. */
function characters(string $text): int
{
    return (int) preg_match_all('/./u', $text);
}

/** Three digits or so; "–" for what was not measured. */
function shown(?float $value): string
{
    return match (true) {
        $value === null => '–',
        abs($value) >= 100 || $value == 0 => number_format($value, 0, '.', ','),
        abs($value) >= 10 => sprintf('%.1f', $value),
        default => sprintf('%.2f', $value),
    };
}

function milliseconds(?float $microseconds): string
{
    return shown($microseconds === null ? null : $microseconds / 1000);
}

function alone_table(Runs $runs): void
{
    $rows = [['', 'acquire p50', 'with release p50', 'p99']];
    foreach ($runs->ways('alone') as $way) {
        $rows[] = [$way, ...array_map(fn ($figure) => shown($runs->median($way, 'alone', $figure)), ['wait_p50', 'pair_p50', 'pair_p99'])];
    }
    table('Acquire and release, nobody else there. µs, medians of the rounds', $rows);
}

/** @param list<int> $numbers of processes */
function together_tables(Runs $runs, array $numbers): void
{
    foreach ($numbers as $processes) {
        $rows = [['', 'sections', 'sections/s', 'wait p50', 'p99', 'longest', 'hand-over p50', 'p99', 'overlaps']];
        foreach ($runs->ways($processes) as $way) {
            $median = fn (string $figure) => $runs->median($way, $processes, $figure);
            $rows[] = [
                $way,
                shown($runs->sum($way, $processes, 'sections')),
                shown($median('sections_per_s')),
                ...array_map(fn ($figure) => milliseconds($median($figure)), ['wait_p50', 'wait_p99', 'wait_max']),
                ...array_map(fn ($figure) => milliseconds($median($figure)), ['handover_p50', 'handover_p99']),
                shown($runs->sum($way, $processes, 'overlaps')),
            ];
        }
        table("$processes processes, sections of " . TOGETHER['us'] / 1000 . ' ms. ms, medians of the rounds', $rows);
    }
}

/** @param array<string, ?float> $commands by way */
function waiting_table(array $commands, int $seconds): void
{
    $rows = [['', 'commands']];
    foreach ($commands as $way => $count) {
        $rows[] = [$way, shown($count)];
    }
    table(WAITING['processes'] . " processes wait for $seconds s. Commands per process, second and server", $rows);
}

function verdict(?float $value, string $relation, float $bar, ?float $aim): string
{
    $keeps = fn (float $limit) => $relation === '<=' ? $value <= $limit : $value >= $limit;
    return match (true) {
        $value === null => 'not measured',
        !$keeps($bar) => 'MISSED',
        $aim !== null && $keeps($aim) => 'met, and the aim',
        default => 'met',
    };
}

/**
 * @param array<string, ?float> $commands
 * @return list<array{claim: string, processes: int|string, measured: ?float, bare_c: ?float, bar: string, aim: ?float, verdict: string}>
 */
function judge(Runs $runs, array $commands, int $seconds): array
{
    $results = [];
    foreach (CLAIMS as [$claim, $where, $figure, $way, $to_figure, $to_way, $relation, $bar, $aim]) {
        foreach ($where === null ? $runs->processes($way) : [$where] as $processes) {
            if (str_ends_with($to_figure, "@$processes")) {
                continue; // with itself
            }
            $ratio = $runs->ratio($way, $figure, $to_way, $to_figure, $processes);
            $results[] = [
                'claim' => $claim,
                'processes' => $processes,
                'measured' => $ratio,
                'bare_c' => $to_way === $way ? $runs->ratio('C: direct', $figure, 'C: direct', $to_figure, $processes) : null,
                'bar' => "$relation " . shown($bar),
                'aim' => $aim,
                'verdict' => verdict($ratio, $relation, $bar, $aim),
            ];
        }
    }
    [$bar, $aim] = MOST_COMMANDS;
    $sent = $commands['DistributedLock'] ?? null;
    $results[] = ['claim' => "commands per process and second, waiting for $seconds s", 'processes' => WAITING['processes'], 'measured' => $sent,
        'bare_c' => null, 'bar' => '<= ' . shown($bar), 'aim' => $aim, 'verdict' => verdict($sent, '<=', $bar, $aim)];
    return $results;
}

/** @param list<array<string, mixed>> $results of judge() */
function claims_table(array $results): void
{
    $rows = [['', 'processes', 'measured', 'bare C', 'bar', 'aim', '']];
    foreach ($results as $result) {
        $rows[] = [
            $result['claim'], $result['processes'] === 'alone' ? '1' : (string) $result['processes'], shown($result['measured']),
            $result['bare_c'] === null ? '' : shown($result['bare_c']), $result['bar'],
            $result['aim'] === null ? '' : shown($result['aim']), $result['verdict'],
        ];
    }
    table('Ratios, taken round by round; medians', $rows);
}
