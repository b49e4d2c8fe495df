<?php
/* Tables to read, and the verdicts on the claims. */
declare(strict_types=1);

/** @param list<list<string>> $rows the first row has the heads */
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

/** Without mbstring, which may be absent. */
function characters(string $text): int
{
    return (int) preg_match_all('/./u', $text);
}

/** About three digits; "–" if it was not measured. */
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

/** Figures of databases.php. @param array<string, mixed> $medians by database  @return list<list<string>> */
function database_pair_rows(array $medians): array
{
    $names = ['dlock' => 'dlock', 'two SELECT 1' => 'two `SELECT 1`', 'advisory lock' => '`pg_advisory_lock()`, `GET_LOCK()`', 'FOR UPDATE' => 'a transaction with `SELECT … FOR UPDATE`',
        'two updates' => 'two `UPDATE` of one row', 'Symfony' => "Symfony's `PostgreSqlStore`, `PdoStore`"];
    $rows = [['acquire and release, median, µs', 'PostgreSQL', 'server CPU', 'MariaDB', 'server CPU']];
    foreach (array_intersect_key($names, $medians['pgsql']['pairs']) as $way => $name) {
        $rows[] = [$name, ...array_merge(...array_map(fn ($kind) => [shown($medians[$kind]['pairs'][$way]['us']), shown($medians[$kind]['pairs'][$way]['server_us'])], ['pgsql', 'mysql']))];
    }
    return $rows;
}

/** @param array<string, mixed> $medians by database  @return list<list<string>> */
function database_turn_rows(array $medians): array
{
    $rows = [['', 'processes', 'PostgreSQL, ms', 'turns of each', 'MariaDB, ms', 'turns of each']];
    foreach ($medians['pgsql']['turns'] as $way => $of_way) {
        foreach (array_keys($of_way) as $processes) {
            $figures = array_map(fn ($kind) => $medians[$kind]['turns'][$way][$processes], ['pgsql', 'mysql']);
            $rows[] = [$way, (string) $processes, ...array_merge(...array_map(fn ($of) => [shown($of['handover_ms']), round($of['least']) . ' to ' . round($of['most'])], $figures))];
        }
    }
    return $rows;
}

/** @return list<list<string>> */
function alone_rows(array $medians): array
{
    $rows = [['', 'acquire p50', 'with release p50', 'p99', 'server CPU', 'bytes to it', 'bytes back']];
    foreach (array_filter(array_map(fn ($of_way) => $of_way['alone'] ?? null, $medians)) as $way => $figures) {
        $rows[] = [$way, ...array_map(fn ($figure) => shown($figures[$figure] ?? null), ['wait_p50', 'pair_p50', 'pair_p99', 'server_us', 'bytes_in', 'bytes_out'])];
    }
    return $rows;
}

/** @return list<list<string>> */
function apart_rows(array $medians): array
{
    $rows = [['', 'server CPU per lock, µs', 'locks per second of it', 'locks/s here']];
    foreach (array_filter(array_map(fn ($of_way) => $of_way['apart'] ?? null, $medians)) as $way => $figures) {
        $rows[] = [$way, ...array_map(fn ($figure) => shown($figures[$figure]), ['server_us', 'per_core_s', 'sections_per_s'])];
    }
    return $rows;
}

/** @return list<list<string>> */
function far_rows(array $medians): array
{
    $rows = [['', 'acquire p50', 'with release p50', 'p99']];
    foreach (array_filter(array_map(fn ($of_way) => $of_way['far'] ?? null, $medians)) as $way => $figures) {
        $rows[] = [$way, ...array_map(fn ($figure) => milliseconds($figures[$figure]), ['wait_p50', 'pair_p50', 'pair_p99'])];
    }
    return $rows;
}

/** @return list<list<string>> */
function replicated_rows(array $medians): array
{
    $rows = [['', 'acquire p50, µs', 'with release p50', 'p99', 'hosts apart: acquire p50, ms', 'with release p50', 'hand-over p50, ms', 'p99', 'sections/s']];
    foreach (REPLICATED['ways'] as $way) {
        ['replicated' => $near, 'hosts apart' => $far, 'replicated, together' => $together] = ($medians[$way] ?? [])
            + array_fill_keys(['replicated', 'hosts apart', 'replicated, together'], []);
        if ($near !== []) {
            $rows[] = [$way, ...array_map(fn ($figure) => shown($near[$figure] ?? null), ['wait_p50', 'pair_p50', 'pair_p99']),
                ...array_map(fn ($figure) => milliseconds($far[$figure] ?? null), ['wait_p50', 'pair_p50']),
                ...array_map(fn ($figure) => milliseconds($together[$figure] ?? null), ['handover_p50', 'handover_p99']), shown($together['sections_per_s'] ?? null)];
        }
    }
    return $rows;
}

/** @return list<list<string>> */
function sale_rows(array $medians): array
{
    $rows = [['', 'requests/s', 'server CPU, µs', 'requests per second of it', 'sold', 'reserved']];
    foreach (PERMITS['sale'] as $way) {
        $figures = $medians[$way]['sale'] ?? null;
        $figures === null || $rows[] = [$way, ...array_map(fn ($figure) => shown($figures[$figure] ?? null), ['requests_per_s', 'server_us', 'per_core_s', 'sold', 'reserved'])];
    }
    return $rows;
}

/** Figures of scripts/stock-costs.sh. @param array<string, mixed> $costs @return list<list<string>> */
function stock_rows(array $costs): array
{
    $rows = [['', 'bare counter, µs', 'dlock ' . $costs['before'] . ', µs', 'Stock, µs', 'requests per second of it', 'rounds', 'bar', '']];
    foreach ($costs['ratios'] as $ratio) {
        $us = fn (string $what) => shown($costs['medians'][$what] ?? null);
        $rows[] = ["$ratio[what], to " . ($ratio['to'] === 'counter' ? 'a bare counter' : "dlock $costs[before]"), $us('counter'), $us("$ratio[what], before"), $us("$ratio[what], stock"),
            shown($ratio['measured']), shown($ratio['low']) . '–' . shown($ratio['high']), '≥ ' . shown((float) $ratio['bar']), verdict($ratio)];
    }
    return $rows;
}

/** @return list<list<string>> */
function semaphore_rows(array $medians): array
{
    $rows = [['', ...array_map(fn ($holders) => number_format($holders) . ($holders === 1 ? ' holder' : ' holders'), PERMITS['holders'])]];
    foreach (PERMITS['semaphores'] as $way) {
        isset($medians[$way]['holders 0']) && $rows[] = [$way, ...array_map(fn ($holders) => shown($medians[$way]["holders $holders"]['pair_us'] ?? null), PERMITS['holders'])];
    }
    return $rows;
}

/** @return list<list<string>> */
function readers_rows(array $medians): array
{
    $rows = [['', 'sections/s', 'reads', 'writes', 'readers: wait p50, ms', 'writers: wait p50, ms']];
    foreach (PERMITS['readers_ways'] as $way) {
        $figures = $medians[$way]['readers'] ?? null;
        $figures === null || $rows[] = [$way, ...array_map(fn ($figure) => shown($figures[$figure]), ['sections_per_s', 'reads', 'writes']),
            ...array_map(fn ($figure) => milliseconds($figures[$figure]), ['reader_wait_p50', 'writer_wait_p50'])];
    }
    return $rows;
}

function show_permits(Runs $runs): void
{
    table('A sale of ' . number_format(PERMITS['units']) . ' units. Medians of the rounds; server CPU for each request', sale_rows($runs->medians()));
    table("Acquire and release of a semaphore: µs of the server's time, medians of the rounds", semaphore_rows($runs->medians()));
    table(PERMITS['readers'] . ' readers and ' . PERMITS['writers'] . ' writers, sections of no length', readers_rows($runs->medians()));
}

/** The ways that users compare. @return list<list<string>> */
function short_rows(array $medians): array
{
    $rows = [['', 'alone, µs', '50 processes: sections/s', 'wait p50, ms', 'longest wait, ms']];
    foreach (['DistributedLock', 'Symfony Lock', 'phpredis by hand'] as $way) {
        $together = $medians[$way][50] ?? null;
        $rows[] = [
            $way, shown($medians[$way]['alone']['pair_p50'] ?? null), shown($together['sections_per_s'] ?? null),
            milliseconds($together['wait_p50'] ?? null), milliseconds($together['wait_max'] ?? null),
        ];
    }
    return $rows;
}

/** @return list<list<string>> */
function together_rows(array $medians, int $processes): array
{
    $rows = [['', 'sections', 'sections/s', 'wait p50', 'p99', 'longest', 'hand-over p50', 'p99', 'overtaken', 'overlaps', 'server CPU, µs']];
    foreach (array_filter(array_map(fn ($of_way) => $of_way[$processes] ?? null, $medians)) as $way => $figures) {
        $rows[] = [
            $way, shown($figures['sections']), shown($figures['sections_per_s']),
            ...array_map(fn ($figure) => milliseconds($figures[$figure]), ['wait_p50', 'wait_p99', 'wait_max', 'handover_p50', 'handover_p99']),
            ...array_map(fn ($figure) => shown($figures[$figure] ?? null), ['overtaken', 'overlaps', 'server_us']),
        ];
    }
    return $rows;
}

/** @return list<int> the numbers of processes that were measured, in order */
function measured_numbers(array $medians): array
{
    $numbers = array_filter(array_unique(array_merge([], ...array_map('array_keys', array_values($medians)))), 'is_int');
    sort($numbers);
    return $numbers;
}

/** @param array<string, ?float> $commands by way  @return list<list<string>> */
function waiting_rows(array $commands): array
{
    $rows = [['', 'commands']];
    foreach ($commands as $way => $count) {
        $rows[] = [$way, shown($count)];
    }
    return $rows;
}

/** @param array<string, array<string, float>> $requests by way: medians of fpm.php's  @return list<list<string>> */
function per_request_rows(array $requests): array
{
    $rows = [['', 'first', 'later', 'connects', 'AUTH', 'scripts', 'later: connects', 'AUTH', 'scripts', 'memory']];
    foreach ($requests as $way => $figures) {
        $counts = array_map(fn ($figure) => (string) round($figures[$figure], 2),
            ['connects_first', 'auths_first', 'loads_first', 'connects_later', 'auths_later', 'loads_later']);
        $rows[] = [$way, shown($figures['first']), shown($figures['later']), ...$counts, shown($figures['memory'])];
    }
    return $rows;
}

/** @param array<string, mixed> $result of judge(), or from the data */
function verdict(array $result): string
{
    ['measured' => $value, 'relation' => $relation, 'bar' => $bar, 'aim' => $aim] = $result;
    $keeps = fn (float $limit) => $relation === '<=' ? $value <= $limit : $value >= $limit;
    return match (true) {
        $value === null => 'not measured',
        $bar === null => 'no bar',
        !$keeps($bar) => 'missed',
        $aim !== null && $keeps($aim) => 'met, and the aim',
        default => 'met',
    };
}

/**
 * The numbers of processes, or the word, for which a claim is judged.
 * @param string|int|list<int>|null $where as in CLAIMS
 * @param list<int> $measured
 * @return list<string|int>
 */
function places(string|int|array|null $where, array $measured): array
{
    $those = match (true) {
        $where === null => $measured,
        is_array($where) => array_values(array_intersect($measured, $where)),
        default => [$where],
    };
    return $those ?: ['any'];
}

/**
 * @param array{processes: int, seconds: int, commands: array<string, ?float>} $waiting
 * @param array<string, array<string, float>> $requests
 * @return list<array{claim: string, processes: int|string, measured: ?float, low: ?float, high: ?float, bare_c: ?float,
 * relation: string, bar: ?float, aim: ?float}>
 */
function judge(Runs $runs, array $waiting, array $requests): array
{
    $results = [];
    $rounded = fn (?float $value) => $value === null ? null : round($value, 4);
    $add = function (string $claim, int|string $processes, array $values, ?float $bare_c, string $relation, ?float $bar, ?float $aim) use (&$results, $rounded) {
        $results[] = ['claim' => $claim, 'processes' => $processes, 'measured' => $rounded(median($values)),
            'low' => $rounded($values ? min($values) : null), 'high' => $rounded($values ? max($values) : null),
            'bare_c' => $rounded($bare_c), 'relation' => $relation, 'bar' => $bar, 'aim' => $aim];
    };
    foreach (CLAIMS as [$claim, $where, $figure, $way, $to_figure, $to_way, $relation, $bar, $aim]) {
        foreach (places($where, $runs->processes($way)) as $processes) {
            if (str_ends_with($to_figure, "@$processes")) {
                continue; // compared with itself
            }
            $bare_c = $to_way === $way ? median($runs->ratios('C: direct', $figure, 'C: direct', $to_figure, $processes)) : null;
            $shown = match ($processes) { 'apart' => APART['processes'], 'far', 'request', 'replicated', 'hosts apart' => 'alone',
                'replicated, together' => REPLICATED['processes'], 'sale' => PERMITS['connections'], 'readers' => PERMITS['readers'] + PERMITS['writers'],
                default => is_int($processes) ? $processes : 'alone' };
            $add($claim, $shown, $runs->ratios($way, $figure, $to_way, $to_figure, $processes), $bare_c, $relation, $bar, $aim);
        }
    }
    $sent = $waiting['commands']['DistributedLock'] ?? null;
    $add("commands per process and second, waiting for $waiting[seconds] s", $waiting['processes'], $sent === null ? [] : [$sent], null, '<=', ...MOST_COMMANDS);
    [$ways, $bar] = AGAIN_AND_AGAIN;
    foreach ($ways as $way) {
        $seen = array_intersect_key($requests[$way] ?? [], ['connects_later' => 0, 'auths_later' => 0, 'loads_later' => 0]);
        $add("$way in php-fpm, later requests: connects, AUTH, scripts", 'alone', $seen ? [array_sum($seen)] : [], null, '<=', $bar, null);
    }
    return $results;
}

/** @param list<array<string, mixed>> $results of judge()  @return list<list<string>> */
function claim_rows(array $results): array
{
    $rows = [['', 'processes', 'measured', 'rounds', 'bare C', 'bar', 'aim', '']];
    foreach ($results as $result) {
        ['low' => $low, 'high' => $high, 'bar' => $bar, 'aim' => $aim, 'bare_c' => $bare_c] = $result;
        // Another decimal if rounding hides on which side of the bar the figure is.
        $measured = shown($result['measured']);
        if ($bar !== null && $measured === shown($bar) && $result['measured'] != $bar) {
            $measured = sprintf('%.3f', $result['measured']);
        }
        $rows[] = [
            $result['claim'], $result['processes'] === 'alone' ? '1' : (string) $result['processes'], $measured,
            $low === $high ? '' : shown($low) . '–' . shown($high), $bare_c === null ? '' : shown($bare_c),
            $bar === null ? '' : ($result['relation'] === '<=' ? '≤ ' : '≥ ') . shown($bar), $aim === null ? '' : shown($aim), verdict($result),
        ];
    }
    return $rows;
}
