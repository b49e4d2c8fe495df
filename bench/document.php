#!/usr/bin/env -S php -n
<?php
/* Writes docs/performance.md and its plots from docs/performance/results.json and the template performance.md.php.
 * Every number and every verdict comes from the data. Fails if README.md, which is written by hand, has other figures.
 *
 *   document.php [RESULTS]         RESULTS: data of another run (build/bench/results.json), which replace the old data
 *   document.php --permits FILE    replaces the figures on permits by those of another run (build/bench/permits.json)
 *   document.php --stock FILE      replaces the figures of scripts/stock-costs.sh
 *   document.php --databases FILE  replaces the figures on databases (build/bench/databases.json)
 *   document.php --check           writes nothing, and fails if the files differ from what the data give
 */
declare(strict_types=1);

chdir(dirname(__DIR__));
error_reporting(E_ALL);
set_error_handler(fn (int $code, string $message, string $file, int $line) => throw new ErrorException($message, 0, $code, $file, $line));
foreach (['plan', 'figures', 'report', 'plot'] as $part) {
    require_once __DIR__ . "/$part.php";
}

const DATA = 'docs/performance/results.json';

/** The data, as the template reads them. */
final class Results
{
    /** @param array<string, mixed> $data as bench.php wrote them */
    public function __construct(public readonly array $data)
    {
    }

    /** The judged claims of that name. @return list<array<string, mixed>> */
    public function claims(string $claim): array
    {
        $claims = array_values(array_filter($this->data['claims'], fn ($result) => $result['claim'] === $claim));
        return $claims ?: throw new ValueError("no claim is called \"$claim\"");
    }

    public function ratio(string $claim): ?float
    {
        return $this->claims($claim)[0]['measured'];
    }

    /** @return list<array<string, mixed>> */
    public function with_verdict(string $verdict): array
    {
        return array_values(array_filter($this->data['claims'], fn ($result) => str_starts_with(verdict($result), $verdict)));
    }

    public function figure(string $way, int|string $processes, string $figure): ?float
    {
        $value = $this->data['medians'][$way][$processes][$figure] ?? null;
        return $value === null ? null : (float) $value;
    }

    /** For example "uncontended, one Redis, to bare C"; if processes vary, also their number. */
    public function name(array $result): string
    {
        return $result['claim'] . (is_int($result['processes']) ? ", $result[processes] processes" : '');
    }
}

/** @param list<list<string>> $rows the first row has the heads */
function markdown(array $rows): string
{
    array_splice($rows, 1, 0, [['---', ...array_fill(0, count($rows[0]) - 1, '---:')]]);
    return implode("\n", array_map(fn ($row) => rtrim('| ' . implode(' | ', $row) . ' |'), $rows)) . "\n";
}

/** @return array<string, string> contents by path */
function generate(): array
{
    $results = new Results(read_json(DATA));
    if ($results->data['overlaps'] > 0) {
        throw new RuntimeException('two were under one lock at the same time: that is to be understood, not documented');
    }
    $plots = plots($results->data['medians']);
    $databases = $results->data['databases']['medians'] ?? null;
    if ($databases !== null) {
        $plots['databases'] = database_plot($databases);
    }
    ob_start();
    (static function (Results $results, array $plots): void {
        require __DIR__ . '/performance.md.php';
    })($results, $plots);
    // The data have older names.
    $text = strtr(ob_get_clean(), ['phpredis by hand' => 'hand-written phpredis', 'predis by hand' => 'hand-written predis', 'hand-over' => 'handover',
        'Hand-over' => 'Handover']);
    [$short, $details] = explode("\f", $text);
    $files = ['docs/performance.md' => rtrim($short) . "\n", 'docs/performance/details.md' => ltrim($details)];
    foreach ($plots as $name => $svg) {
        $files["docs/performance/$name.svg"] = $svg;
    }
    if ($databases !== null) {
        $table = markdown(array_map(fn ($row) => [$row[0], $row[1], $row[3]], database_pair_rows($databases)));
        $files['docs/database.md'] = preg_replace('/(?<=\n)\|[^\n]*PostgreSQL \| MariaDB \|\n(\|.*\n)+/', $table, file_get_contents('docs/database.md'), 1);
    }
    return $files;
}

/** The rows that README.md must have. */
function summary(Results $results): string
{
    // A short run lacks some figures.
    $written = fn (?float $value, int $decimals, string $unit) => $value === null ? '–' : round($value, $decimals) . $unit;
    $us = fn (string $way) => $written($results->figure($way, 'alone', 'pair_p50'), 0, ' µs');
    $sections = fn (string $way) => $written($results->figure($way, 50, 'sections_per_s'), 0, '');
    $longest = fn (string $way) => ($us = $results->figure($way, 50, 'wait_max')) >= 100_000 ? $written($us / 1e6, 1, ' s')
        : $written($us === null ? null : $us / 1000, 0, ' ms');
    $row = fn (string $what, callable $figure) => "| $what | " . implode(' | ', array_map($figure, ['DistributedLock', 'phpredis by hand', 'Symfony Lock'])) . " |\n";
    return $row('acquire and release, one process', $us)
        . $row('50 processes, critical sections of 1 ms: longest wait', $longest)
        . $row('50 processes, critical sections of 1 ms: sections per second', $sections);
}

/** @return array<string, mixed> */
function read_json(string $file): array
{
    return json_decode(file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);
}

/** @param array<string, mixed> $data */
function write_data(array $data): void
{
    array_walk_recursive($data, fn (&$value) => $value = is_float($value) ? round($value, 4) : $value);
    ini_set('serialize_precision', '-1');
    file_put_contents(DATA, json_encode($data, JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES) . "\n");
}

/** Replaces figures and claims by those of another run. @param array<string, mixed> $new */
function merge(array $new): void
{
    $data = read_json(DATA);
    $data['medians'] = array_replace_recursive($data['medians'], $new['medians']);
    $name = fn (array $result) => "$result[claim], $result[processes]";
    $claims = array_combine(array_map($name, $data['claims']), $data['claims']);
    foreach ($new['claims'] as $result) {
        $claims[$name($result)] = $result;
    }
    $data['claims'] = array_values($claims);
    write_data($data);
}

$option = $argv[1] ?? null;
if ($option === '--permits') {
    merge(read_json($argv[2]));
} elseif ($option === '--stock') {
    write_data(array_replace(read_json(DATA), ['stock_costs' => read_json($argv[2])]));
} elseif ($option === '--databases') {
    write_data(array_replace(read_json(DATA), ['databases' => read_json($argv[2])]));
} elseif ($option !== null && $option !== '--check') {
    write_data(read_json($option) + array_intersect_key(read_json(DATA), ['stock_costs' => true, 'databases' => true]));
}
$stale = false;
foreach (generate() as $file => $contents) {
    if ($option !== '--check') {
        file_put_contents($file, $contents);
    } elseif (!is_file($file) || file_get_contents($file) !== $contents) {
        fwrite(STDERR, "$file is not what " . DATA . " and bench/performance.md.php give: run bench/document.php\n");
        $stale = true;
    }
}
$summary = summary(new Results(read_json(DATA)));
if (!str_contains(file_get_contents('README.md'), $summary)) {
    fwrite(STDERR, "README.md must say:\n$summary");
    $stale = true;
}
exit($stale ? 1 : 0);
