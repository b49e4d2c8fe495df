<?php
/* Measures what plan.php says, against the servers of the environment; prints tables, and writes data and plots.
 *
 *   bench.php short|full LIMIT DIRECTORY PHP-OPTION...    LIMIT: bench/limit.c, compiled; the options are for PHP with dlock
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/servers.inc';
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

    /**
     * Those ways that can be measured here.
     * @param list<string> $ways
     */
    public function available(array $ways): array
    {
        return array_values(array_filter($ways, fn ($way) => $way !== 'predis by hand' || stream_resolve_include_path('Predis/autoload.php')));
    }

    /** Does a step; where it fails, the others are done all the same. */
    public function step(string $what, callable $do): void
    {
        echo "bench: $what\n";
        try {
            $do();
        } catch (Exception $e) {
            $this->failures[] = "$what: {$e->getMessage()}\n";
        }
    }

    public function commands(string $way, int $processes, int $seconds): ?float
    {
        $lines = $this->php('waiting.php', $way, (string) $processes, (string) $seconds);
        return $lines === null ? null : (float) $lines[0];
    }

    /** @param list<string> $ways  @return array<string, array<string, ?float>> by way: medians of the rounds */
    public function per_request(array $ways, int $rounds, int $requests): array
    {
        // Opcache as in production: what classes in PHP cost without it is not what they cost.
        $options = [...array_slice($this->php, 1), ...has_opcache() ? ['-d', 'zend_extension=opcache'] : []];
        $lines = $this->php('fpm.php', (string) $rounds, (string) $requests, json_encode($ways), ...$options) ?? [];
        $by_way = [];
        foreach ($lines as $line) {
            $figures = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            $way = array_shift($figures);
            if (isset($figures['error'])) {
                $this->failures[] = "fpm.php $way: $figures[error]\n";
                continue;
            }
            $by_way[$way][] = $figures;
        }
        return array_map(fn ($rounds) => array_map(fn ($figure) => median(array_column($rounds, $figure)), array_combine($keys = array_keys($rounds[0]), $keys)),
            array_replace(array_intersect_key(array_flip($ways), $by_way), $by_way));
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

/** What comes after what is another one in every other round. */
function in_turn(array $ways, int $round): array
{
    return $round % 2 === 0 ? array_reverse($ways) : $ways;
}

function measure_alone(Bench $bench, Runs $runs, string $size): void
{
    ['rounds' => $rounds, 'sections' => $sections] = ALONE[$size];
    for ($round = 0; $round <= $rounds; $round++) {
        foreach (in_turn($bench->available(ALONE['ways']), $round) as $way) {
            $run = fn () => $bench->sections($way, 1, $sections, 0);
            $figures = in_array($way, ALONE['one_cpu'], true) ? $bench->on_one_cpu($run) : $run();
            if ($figures !== null && $round > 0) { // the first round warms the servers
                $runs->add($way, 'alone', $round, $figures);
            }
        }
    }
}

function measure_together(Bench $bench, Runs $runs, string $size): void
{
    $numbers = array_unique(array_merge(...array_column(TOGETHER[$size], 'processes')));
    sort($numbers);
    for ($round = 1; $round <= max(array_column(TOGETHER[$size], 'rounds')); $round++) {
        foreach ($numbers as $processes) {
            foreach (in_turn(TOGETHER[$size], $round) as $group) {
                if ($round > $group['rounds'] || !in_array($processes, $group['processes'], true)) {
                    continue;
                }
                $sections = max($group['sections'], $group['least'] * $processes);
                foreach (in_turn($group['ways'], $round) as $way) {
                    $figures = $bench->sections($way, $processes, $sections, TOGETHER['us']);
                    if ($figures !== null) {
                        $runs->add($way, $processes, $round, $figures);
                    }
                }
            }
        }
    }
}

/** As a module. */
function has_opcache(): bool
{
    return is_file(ini_get('extension_dir') . '/opcache.so');
}

/** What a figure was measured on. @return array<string, string> */
function machine(): array
{
    $found = fn (string $pattern, string $text) => preg_match($pattern, $text, $match) ? $match[1] : 'unknown';
    $said = fn (string $command) => trim((string) shell_exec("$command 2> /dev/null"));
    ob_start();
    phpinfo(INFO_MODULES);
    $modules = ob_get_clean();
    $cpus = (string) @file_get_contents('/proc/cpuinfo');
    $commit = $said('git describe --always --dirty');
    $redis = new RedisRaw(explode(',', getenv('DLOCK_TEST_REDIS'))[0]);
    return array_filter([
        'CPU' => $found('/^model name\s*: (.*)$/m', $cpus),
        'CPUs' => (string) preg_match_all('/^processor\s*:/m', $cpus),
        'system' => $found('/^PRETTY_NAME="(.*)"$/m', (string) @file_get_contents('/etc/os-release')) . ', Linux ' . php_uname('r'),
        'dlock' => phpversion('dlock') . ($commit === '' ? '' : ", commit $commit"),
        'PHP' => PHP_VERSION,
        'opcache' => has_opcache() ? 'on, in php-fpm' : 'off',
        'Redis' => $found('/^redis_version:(\S+)/m', $redis->cmd('INFO', 'server')),
        'ZooKeeper' => $found('/version: ([\w.]+)/', zk_ask('srvr')),
        'hiredis' => $found('/^hiredis => built with ([^\s,]+)/m', $modules),
        'ZooKeeper client' => $found('/^ZooKeeper client => built with ([^\s,]+)/m', $modules),
        'phpredis' => phpversion('redis'),
        'Symfony Lock' => $said("dpkg-query -W -f '\${Version}' php-symfony-lock"),
        'predis' => $said("dpkg-query -W -f '\${Version}' php-predis"),
    ]);
}

/** Without the figures that are in no table and no plot. */
function documented(array $medians): array
{
    $together = ['sections', 'sections_per_s', 'wait_p50', 'wait_p99', 'wait_max', 'handover_p50', 'handover_p99', 'overlaps'];
    foreach ($medians as $way => $of_way) {
        foreach ($of_way as $processes => $figures) {
            $medians[$way][$processes] = array_intersect_key($figures, array_flip($processes === 'alone' ? ['wait_p50', 'pair_p50', 'pair_p99'] : $together));
        }
    }
    return $medians;
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

[, $size, $limit, $directory] = $argv;
$bench = new Bench($limit, $directory, [PHP_BINARY, ...array_slice($argv, 4)]);
$runs = new Runs();
$waiting = ['commands' => []] + WAITING[$size];
$requests = [];
$start = hrtime(true);

$bench->step('one process after the other', fn () => measure_alone($bench, $runs, $size));
table('Acquire and release, nobody else there. µs, medians of the rounds', alone_rows($runs->medians()));

$bench->step('many processes under one lock', fn () => measure_together($bench, $runs, $size));
foreach (measured_numbers($runs->medians()) as $processes) {
    table("$processes processes, sections of " . TOGETHER['us'] / 1000 . ' ms. ms, medians of the rounds', together_rows($runs->medians(), $processes));
}

$bench->step('many processes waiting', function () use ($bench, &$waiting) {
    foreach ($waiting['ways'] as $way) {
        $waiting['commands'][$way] = $bench->commands($way, $waiting['processes'], $waiting['seconds']);
    }
});
table("$waiting[processes] processes wait for $waiting[seconds] s. Commands per process, second and server", waiting_rows($waiting['commands']));

$bench->step('requests to php-fpm', function () use ($bench, $size, &$requests) {
    ['rounds' => $rounds, 'requests' => $number] = PER_REQUEST[$size];
    $requests = $bench->on_one_cpu(fn () => $bench->per_request($bench->available(PER_REQUEST['ways']), $rounds, $number));
});
table('A request to php-fpm with a lock, over one without: µs; per request; KiB per worker', per_request_rows($requests));

$claims = judge($runs, $waiting, $requests);
table('Ratios, taken round by round; medians', claim_rows($claims));

$medians = $runs->medians();
$overlaps = 0.0;
foreach ($medians as $of_way) {
    $overlaps += array_sum(array_column($of_way, 'overlaps'));
}
unset($waiting['ways']);
$results = [
    'date' => date('Y-m-d'), 'size' => $size, 'took' => (int) round((hrtime(true) - $start) / 1e9), 'machine' => machine(),
    'failures' => array_values(array_unique(array_map(fn ($failure) => strtok($failure, "\n"), $bench->failures))), 'overlaps' => $overlaps,
    'claims' => $claims, 'medians' => documented($medians), 'waiting' => $waiting, 'requests' => $requests,
];
array_walk_recursive($results, fn (&$value) => $value = is_float($value) ? round($value, 4) : $value);
ini_set('serialize_precision', '-1');
file_put_contents("$directory/results.json", json_encode($results, JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES) . "\n");
write_csv("$directory/runs.csv", $runs->rows());
foreach (plots($medians) as $name => $svg) {
    file_put_contents("$directory/$name.svg", $svg);
}
printf("\nTook %d s. Data: runs.csv, results.json; plots: sections.svg, handover.svg\n", $results['took']);
foreach ($bench->failures as $failure) {
    echo "FAILED $failure\n";
}
if ($overlaps > 0) {
    echo "FAILED two were under one lock at the same time\n";
}
exit($bench->failures === [] && $overlaps == 0 ? 0 : 1);
