<?php
/* Measures what plan.php says, against the servers of the environment; prints tables, and writes data and plots.
 *
 *   bench.php short|full LIMIT DIRECTORY PHP-OPTION...    LIMIT: bench/limit.c, compiled; the options are for PHP with dlock
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/process.inc';
require_once __DIR__ . '/../tests/inc/redis_raw.inc';
foreach (['plan', 'figures', 'report', 'plot'] as $part) {
    require_once __DIR__ . "/$part.php";
}

/** Runs the commands, and remembers those that failed. */
final class Bench
{
    /** @var list<string> */
    public array $failures = [];
    /** @var list<string> what is put before each command */
    private array $prefix = [];

    /** @param list<string> $php how to run PHP with the extension */
    public function __construct(private readonly string $limit, private readonly string $directory, private readonly array $php)
    {
    }

    /** @return array<string, ?float>|null null where it failed */
    public function sections(string $way, int $processes, int $sections, int $us): ?array
    {
        $numbers = [(string) $processes, (string) $sections, (string) $us];
        if (isset(LIMITS[$way])) {
            [$name, $count] = LIMITS[$way];
            $servers = $count === 0 ? [getenv('DLOCK_TEST_ZK')] : array_slice(explode(',', getenv('DLOCK_TEST_REDIS')), 0, $count);
            $lines = $this->run([$this->limit, $name, ...$numbers, ...$servers]);
        } elseif ($way === ONE_STOPPED) {
            $lines = $this->one_stopped(fn () => $this->php('contend.php', 'RedLock', ...$numbers));
        } else {
            $lines = $this->php('contend.php', $way, ...$numbers);
        }
        return $lines === null ? null : figures(array_map(fn ($line) => array_map('intval', explode(' ', $line)), $lines));
    }

    /** Does something with the first Redis server and all that is run meanwhile on one CPU. */
    public function on_one_cpu(callable $do): mixed
    {
        preg_match('/^Cpus_allowed_list:\s*((\d+).*)$/m', file_get_contents('/proc/self/status'), $allowed);
        $place_server = fn (string $cpus) => exec("taskset --all-tasks --pid --cpu-list $cpus {$this->server_pid(1)}");
        $place_server($allowed[2]);
        $this->prefix = ['taskset', '--cpu-list', $allowed[2]];
        try {
            return $do();
        } finally {
            $this->prefix = [];
            $place_server($allowed[1]);
        }
    }

    public function commands(string $way, int $processes, int $seconds): ?float
    {
        $lines = $this->php('waiting.php', $way, (string) $processes, (string) $seconds);
        return $lines === null ? null : (float) $lines[0];
    }

    private function php(string $script, string ...$arguments): ?array
    {
        return $this->run([...$this->php, __DIR__ . "/$script", ...$arguments]);
    }

    private function one_stopped(callable $do): mixed
    {
        $pid = $this->server_pid(3);
        posix_kill($pid, SIGSTOP);
        try {
            return $do();
        } finally {
            posix_kill($pid, SIGCONT);
            (new RedisRaw(explode(',', getenv('DLOCK_TEST_REDIS'))[2], timeout: 60))->cmd('PING'); // has caught up
        }
    }

    private function server_pid(int $number): int
    {
        return (int) file_get_contents(getenv('DLOCK_TEST_DIR') . "/redis$number/pid");
    }

    /** @param list<string> $command  @return list<string>|null its lines of output */
    private function run(array $command): ?array
    {
        $output = "$this->directory/output";
        $process = proc_open([...$this->prefix, ...$command], [['file', '/dev/null', 'r'], ['file', $output, 'w'], ['file', "$output.errors", 'w']], $pipes);
        $code = proc_close($process);
        $lines = file($output, FILE_IGNORE_NEW_LINES);
        $errors = implode("\n", [...$code === 0 ? [] : $lines, trim(file_get_contents("$output.errors"))]);
        unlink($output);
        unlink("$output.errors");
        if ($code === 0 && $lines !== []) {
            return $lines;
        }
        $words = array_slice($command, $command[0] === $this->limit ? 0 : count($this->php));
        $this->failures[] = basename(array_shift($words)) . ' ' . implode(' ', $words) . ": exit code $code\n" . substr($errors, -2000);
        return null;
    }
}

function measure_alone(Bench $bench, Runs $runs, string $size): void
{
    ['rounds' => $rounds, 'sections' => $sections] = ALONE[$size];
    for ($round = 0; $round <= $rounds; $round++) {
        foreach (ALONE['ways'] as $way) {
            $run = fn () => $bench->sections($way, 1, $sections, 0);
            $figures = in_array($way, ALONE['one_cpu'], true) ? $bench->on_one_cpu($run) : $run();
            if ($figures !== null && $round > 0) { // the first round warms the servers
                $runs->add($way, 'alone', $round, $figures);
            }
        }
    }
}

/** @return list<int> the numbers of processes, in order */
function together_numbers(string $size): array
{
    $numbers = array_unique(array_merge(...array_column(TOGETHER[$size], 'processes')));
    sort($numbers);
    return $numbers;
}

function measure_together(Bench $bench, Runs $runs, string $size): void
{
    for ($round = 1; $round <= max(array_column(TOGETHER[$size], 'rounds')); $round++) {
        foreach (together_numbers($size) as $processes) {
            foreach (TOGETHER[$size] as $group) {
                if ($round > $group['rounds'] || !in_array($processes, $group['processes'], true)) {
                    continue;
                }
                $sections = max($group['sections'], $group['least'] * $processes);
                foreach ($group['ways'] as $way) {
                    $figures = $bench->sections($way, $processes, $sections, TOGETHER['us']);
                    if ($figures !== null) {
                        $runs->add($way, $processes, $round, $figures);
                    }
                }
            }
        }
    }
}

/** @return array<string, ?float> by way */
function measure_waiting(Bench $bench, string $size): array
{
    $commands = [];
    foreach (WAITING[$size]['ways'] as $way) {
        $commands[$way] = $bench->commands($way, WAITING['processes'], WAITING[$size]['seconds']);
    }
    return $commands;
}

function write_csv(string $file, iterable $rows): void
{
    $stream = fopen($file, 'w');
    foreach ($rows as $i => $row) {
        if ($i === 0) {
            fputcsv($stream, array_keys($row));
        }
        fputcsv($stream, array_map(fn ($cell) => is_float($cell) ? round($cell, 3) : $cell, $row));
    }
    fclose($stream);
}

function step(string $what): void
{
    echo "bench: $what\n";
}

[, $size, $limit, $directory] = $argv;
$bench = new Bench($limit, $directory, [PHP_BINARY, ...array_slice($argv, 4)]);
$runs = new Runs();
$start = hrtime(true);

step('one process after the other');
measure_alone($bench, $runs, $size);
alone_table($runs);
step('many processes under one lock');
measure_together($bench, $runs, $size);
together_tables($runs, together_numbers($size));
step('many processes waiting');
$commands = measure_waiting($bench, $size);
waiting_table($commands, WAITING[$size]['seconds']);
$claims = judge($runs, $commands, WAITING[$size]['seconds']);
claims_table($claims);

write_csv("$directory/runs.csv", $runs->rows());
file_put_contents("$directory/results.json", json_encode([
    'mode' => $size, 'php' => PHP_VERSION, 'claims' => $claims, 'commands' => $commands,
    'runs' => iterator_to_array($runs->rows(), false),
], JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE) . "\n");
file_put_contents("$directory/sections.svg",
    line_plot('Critical sections of 1 ms under one lock', 'processes', 'sections per second', lines_of($runs, 'sections_per_s'), false));
file_put_contents("$directory/handover.svg",
    line_plot('From release to the next holder, median', 'processes', 'ms', lines_of($runs, 'handover_p50', 1000), true));

$overlaps = 0.0;
foreach ($runs->rows() as $row) {
    $overlaps += $row['overlaps'];
}
printf("\nTook %d s. Data: runs.csv, results.json; plots: sections.svg, handover.svg\n", (hrtime(true) - $start) / 1e9);
foreach ($bench->failures as $failure) {
    echo "FAILED $failure\n";
}
if ($overlaps > 0) {
    echo "FAILED two were under one lock at the same time\n";
}
exit($bench->failures === [] && $overlaps == 0 ? 0 : 1);
