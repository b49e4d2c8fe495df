<?php
/* Line plots as SVG, for light and dark pages alike: no background, grays and colors of a middle tone. */
declare(strict_types=1);

const GREY = '#808080';

/** Lines by way: [color, width, dashes]. */
const STYLES = [
    'DistributedLock' => ['#2f81d8', 3, ''],
    'RedLock' => ['#d9534f', 3, ''],
    'ZkLock' => ['#2e9e5b', 3, ''],
    'C: direct' => [GREY, 2, '7 4'],
    'C: race' => [GREY, 2, '2 4'],
    'phpredis by hand' => ['#b8860b', 1.5, ''],
    'Symfony Lock' => ['#a05fc0', 1.5, ''],
    'SETNX class' => ['#c76b98', 1.5, ''],
    'Redlock class' => ['#d2722e', 1.5, ''],
    'dlock, PostgreSQL' => ['#2f81d8', 3, ''],
    'dlock, MariaDB' => ['#2e9e5b', 3, ''],
    'PostgreSqlStore' => ['#a05fc0', 1.5, ''],
    'PdoStore, MariaDB' => ['#c76b98', 1.5, ''],
];

/** The place of a value on an axis of $length pixels. */
function on_axis(float $value, float $low, float $high, float $length, bool $log): float
{
    return $log ? log($value / $low) / log($high / $low) * $length : ($value - $low) / ($high - $low) * $length;
}

/** The values to write at an axis, including the first and the last one. @return list<float> */
function ticks(float $low, float $high, bool $log): array
{
    if ($log) {
        $low = 10 ** floor(log10($low));
        $high = 10 ** ceil(log10($high));
        return array_map(fn ($i) => $low * 10 ** $i, range(0, (int) round(log10($high / $low))));
    }
    $step = 10 ** floor(log10($high / 4));
    $step *= $high / $step > 10 ? ($high / $step > 20 ? 5 : 2) : 1;
    return range(0, ceil($high / $step) * $step, $step);
}

/**
 * @param array<string, array<int, float>> $lines by name: x => y
 * @param bool $log whether the y axis is logarithmic; the x axis always is
 */
function line_plot(string $title, string $x_title, string $y_title, array $lines, bool $log): string
{
    [$width, $height, $left, $right, $top, $bottom] = [760, 420, 76, 168, 48, 56];
    $w = $width - $left - $right;
    $h = $height - $top - $bottom;
    $xs = array_unique(array_merge(...array_map('array_keys', array_values($lines))));
    sort($xs);
    $ys = array_merge(...array_map('array_values', array_values($lines)));
    $ticks = ticks(min($ys), max($ys), $log);
    $x = fn (float $value) => round($left + on_axis($value, $xs[0], max(end($xs), $xs[0] + 1), $w, true), 1);
    $y = fn (float $value) => round($top + $h - on_axis($value, $ticks[0], end($ticks), $h, $log), 1);
    $text = fn (float $x, float $y, string $anchor, string $text, string $more = '')
        => "<text x=\"$x\" y=\"$y\" text-anchor=\"$anchor\"$more>" . htmlspecialchars($text) . "</text>\n";

    $svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 $width $height\" width=\"$width\" height=\"$height\""
        . ' font-family="sans-serif" font-size="13" fill="' . GREY . "\">\n<title>" . htmlspecialchars($title) . "</title>\n";
    $svg .= $text($left, 24, 'start', $title, ' font-size="16" font-weight="bold"');
    foreach ($ticks as $tick) {
        $svg .= sprintf("<path d=\"M%s %sh%s\" stroke=\"%s\" stroke-opacity=\"0.35\"/>\n", $left, $y($tick), $w, GREY);
        $svg .= $text($left - 8, $y($tick) + 4, 'end', $tick >= 1 || $tick == 0 ? number_format($tick) : (string) $tick);
    }
    foreach ($xs as $value) {
        $svg .= $text($x($value), $top + $h + 20, 'middle', (string) $value);
    }
    $svg .= $text($left + $w / 2, $height - 12, 'middle', $x_title);
    $svg .= $text(18, $top + $h / 2, 'middle', $y_title, ' transform="rotate(-90 18 ' . ($top + $h / 2) . ')"');

    // The names are in the order of the lines' ends, from top to bottom.
    uasort($lines, fn ($a, $b) => end($b) <=> end($a));
    $row = $top + 6;
    foreach ($lines as $name => $points) {
        [$colour, $stroke, $dashes] = STYLES[$name];
        ksort($points);
        $path = implode(' ', array_map(fn ($px, $py) => "{$x($px)},{$y($py)}", array_keys($points), $points));
        $line = "stroke=\"$colour\" stroke-width=\"$stroke\" stroke-dasharray=\"$dashes\" fill=\"none\"";
        $svg .= "<polyline points=\"$path\" $line/>\n";
        foreach ($points as $px => $py) {
            $svg .= "<circle cx=\"{$x($px)}\" cy=\"{$y($py)}\" r=\"" . ($stroke + 1) . "\" fill=\"$colour\"/>\n";
        }
        $key = $left + $w + 16;
        $svg .= "<path d=\"M$key {$row}h24\" $line/>\n" . $text($key + 30, $row + 4, 'start', $name);
        $row += 22;
    }
    return "$svg</svg>\n";
}

/**
 * One figure of all ways that were measured with several numbers of processes.
 * @return array<string, array<int, float>>
 */
function lines_of(array $medians, string $figure, float $unit = 1): array
{
    $lines = [];
    foreach (array_keys(STYLES) as $way) {
        foreach ($medians[$way] ?? [] as $processes => $figures) {
            if (is_int($processes) && $figures[$figure] > 0) {
                $lines[$way][$processes] = $figures[$figure] / $unit;
            }
        }
    }
    return $lines;
}

/** @param array<string, mixed> $medians of databases.php, by database */
function database_plot(array $medians): string
{
    $lines = [];
    foreach (['pgsql' => ['dlock' => 'dlock, PostgreSQL', 'Symfony' => 'PostgreSqlStore'], 'mysql' => ['dlock' => 'dlock, MariaDB', 'Symfony' => 'PdoStore, MariaDB']] as $kind => $ways) {
        foreach (array_intersect_key($ways, $medians[$kind]['turns']) as $way => $name) {
            $lines[$name] = array_filter(array_map(fn ($figures) => $figures['handover_ms'], $medians[$kind]['turns'][$way]));
        }
    }
    return line_plot('Databases: from release to the next holder, median', 'processes', 'ms', array_filter($lines), true);
}

/**
 * @param array<string, array<int|string, array<string, ?float>>> $medians of Runs
 * @return array<string, string> SVG by name, without those plots that have no data
 */
function plots(array $medians): array
{
    $sections = lines_of($medians, 'sections_per_s');
    $handovers = lines_of($medians, 'handover_p50', 1000);
    return array_filter([
        'sections' => $sections ? line_plot('Critical sections of 1 ms under one lock', 'processes', 'sections per second', $sections, false) : '',
        'handover' => $handovers ? line_plot('From release to the next holder, median', 'processes', 'ms', $handovers, true) : '',
    ]);
}
