<?php
/* Measures what plan.php lists, against the servers of the environment. Prints tables; writes data and plots.
 *
 *   bench.php short|full LIMIT DELAY DIRECTORY PHP-OPTION...
 *
 * LIMIT and DELAY are bench/limit.c and delay.c, compiled. The options are for PHP with dlock. If DLOCK_BENCH_PERMITS
 * is in the environment, only permits are measured, and the results are written to DIRECTORY/permits.json.
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/servers.inc';
foreach (['plan', 'figures', 'report', 'plot', 'runner', 'ways', 'replicated', 'permits'] as $part) {
    require_once __DIR__ . "/$part.php";
}

/** Reverses the order in every other round, so that no way always follows the same way. */
function in_turn(array $ways, int $round): array
{
    return $round % 2 === 0 ? array_reverse($ways) : $ways;
}

/** Measures all ways in each round. The first round warms the servers and does not count. */
function measure_ways(Bench $bench, Runs $runs, string $where, array $ways, int $rounds, callable $measure): void
{
    for ($round = 0; $round <= $rounds; $round++) {
        foreach (in_turn($bench->available($ways), $round) as $way) {
            $figures = $measure($way);
            if ($figures !== null && $round > 0) {
                $runs->add($way, $where, $round, $figures);
            }
        }
    }
}

function measure_alone(Bench $bench, Runs $runs, string $size): void
{
    measure_ways($bench, $runs, 'alone', ALONE['ways'], ALONE[$size]['rounds'], function (string $way) use ($bench, $size) {
        $run = fn () => $bench->sections($way, false, 1, ALONE[$size][servers_of($way) === 1 ? 'one_server' : 'sections'], 0);
        return in_array($way, ALONE['one_cpu'], true) ? $bench->on_one_cpu(servers_of($way), $run) : $run();
    });
}

function measure_apart(Bench $bench, Runs $runs, string $size): void
{
    measure_ways($bench, $runs, 'apart', APART['ways'], APART[$size]['rounds'], fn (string $way) =>
        $bench->on_one_cpu(1, fn () => $bench->sections($way, true, APART['processes'], APART[$size]['sections'], 0), clients: false));
}

function measure_far(Bench $bench, Runs $runs, string $size): void
{
    $bench->far(FAR['round_trip_us'], fn () => measure_ways($bench, $runs, 'far', FAR['ways'], FAR[$size]['rounds'],
        fn (string $way) => $bench->sections($way, false, 1, FAR[$size]['sections'], 0)));
}

/** @param list<array<string, mixed>> $groups as in TOGETHER */
function measure_together(Bench $bench, Runs $runs, array $groups): void
{
    $numbers = array_unique(array_merge(...array_column($groups, 'processes')));
    sort($numbers);
    for ($round = 1; $round <= max(array_column($groups, 'rounds')); $round++) {
        foreach ($numbers as $processes) {
            foreach (in_turn($groups, $round) as $group) {
                if ($round > $group['rounds'] || !in_array($processes, $group['processes'], true)) {
                    continue;
                }
                $sections = max($group['sections'], $group['least'] * $processes);
                foreach (in_turn($group['ways'], $round) as $way) {
                    $run = fn () => $bench->sections($way, false, $processes, $sections, TOGETHER['us']);
                    $figures = servers_of($way) > 0 ? $bench->on_one_cpu(servers_of($way), $run) : $run();
                    if ($figures !== null) {
                        $runs->add($way, $processes, $round, $figures);
                    }
                }
            }
        }
    }
}

/** Its servers run only while it measures. */
function measure_replicated(Bench $bench, Runs $runs, string $size): void
{
    $servers = new Replicated();
    ['rounds' => $rounds, 'sections' => $sections, 'far_sections' => $far_sections] = $plan = REPLICATED[$size];
    foreach (REPLICATED['ways'] as $way) {
        ways()[$way]()('first')(); // from then on, locks are granted at once
    }
    $on_one_cpu = fn (int $processes, int $sections, int $us) => fn (string $way) =>
        $bench->on_one_cpu(servers_of($way), fn () => $bench->sections($way, false, $processes, $sections, $us), more: $servers->pids());
    measure_ways($bench, $runs, 'replicated', REPLICATED['ways'], $rounds, $on_one_cpu(1, $sections, 0));
    measure_ways($bench, $runs, 'replicated, together', REPLICATED['ways'], $plan['together_rounds'], $on_one_cpu(REPLICATED['processes'], $plan['together_sections'], TOGETHER['us']));
    $bench->far(REPLICATED['round_trip_us'], function (string $master) use ($bench, $runs, $servers, $rounds, $far_sections) {
        $servers->go_to($master);
        measure_ways($bench, $runs, 'hosts apart', REPLICATED['far_ways'], $rounds, fn (string $way) => $bench->sections($way, false, 1, $far_sections, 0));
    }, [$servers->master()]);
}

/** True: opcache is a module that PHP can load. */
function has_opcache(): bool
{
    return is_file(ini_get('extension_dir') . '/opcache.so');
}

/** The machine and the versions that are measured. @return array<string, string> */
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

/** Only the figures of tables and plots, without those of requests, which are stored separately. */
function documented(array $medians): array
{
    $figures = [
        'alone' => ['wait_p50', 'pair_p50', 'pair_p99', 'server_us', 'bytes_in', 'bytes_out'],
        'apart' => ['sections_per_s', 'server_us', 'per_core_s'],
        'far' => ['wait_p50', 'pair_p50', 'pair_p99'],
        'request' => [],
        'replicated' => ['wait_p50', 'pair_p50', 'pair_p99'],
        'hosts apart' => ['wait_p50', 'pair_p50', 'pair_p99'],
        'replicated, together' => ['sections_per_s', 'handover_p50', 'handover_p99', 'overlaps'],
        'sale' => ['requests_per_s', 'server_us', 'per_core_s', 'sold', 'reserved'],
        ...array_fill_keys(array_map(fn ($holders) => "holders $holders", PERMITS['holders']), ['pair_us']),
        'readers' => ['sections_per_s', 'reads', 'writes', 'reader_wait_p50', 'writer_wait_p50'],
    ];
    $together = ['sections', 'sections_per_s', 'wait_p50', 'wait_p99', 'wait_max', 'handover_p50', 'handover_p99', 'overtaken', 'overlaps', 'server_us'];
    foreach ($medians as $way => $of_way) {
        foreach ($of_way as $where => $of_where) {
            $medians[$way][$where] = array_intersect_key($of_where, array_flip($figures[$where] ?? $together));
        }
        $medians[$way] = array_filter($medians[$way]);
    }
    return array_filter($medians);
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

[, $size, $limit, $delay, $directory] = $argv;
$bench = new Bench($limit, $delay, $directory, [PHP_BINARY, ...array_slice($argv, 5)]);
$runs = new Runs();
$waiting = ['commands' => []] + WAITING[$size];
$start = hrtime(true);

if (getenv('DLOCK_BENCH_PERMITS')) {
    measure_permits($bench, $runs, $size);
    measure_together($bench, $runs, [PERMITS['together']]);
    show_permits($runs);
    foreach (PERMITS['together']['processes'] as $processes) {
        table("$processes processes, sections of " . TOGETHER['us'] / 1000 . ' ms. ms, medians of the rounds', together_rows($runs->medians(), $processes));
    }
    $of_permits = array_column(array_filter(CLAIMS, fn ($claim) => in_array($claim[3], PERMITS['all'], true)), 0);
    $claims = array_values(array_filter(judge($runs, $waiting, []), fn ($result) => $result['measured'] !== null && in_array($result['claim'], $of_permits, true)));
    table('Ratios, taken round by round; medians', claim_rows($claims));
    $medians = documented($runs->medians());
    // The other figures of DistributedLock come from the run of all ways.
    $medians = array_intersect_key($medians, array_flip(PERMITS['all'])) + ['DistributedLock' => ['readers' => $medians['DistributedLock']['readers']]];
    file_put_contents("$directory/permits.json", json_encode(['size' => $size, 'claims' => $claims, 'medians' => $medians],
        JSON_PRETTY_PRINT | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES) . "\n");
    exit;
}

$bench->step('one process after the other', fn () => measure_alone($bench, $runs, $size));
table('Acquire and release, nobody else there. µs, medians of the rounds; bytes to and from the servers', alone_rows($runs->medians()));

$bench->step('many processes, each with a lock of its own', fn () => measure_apart($bench, $runs, $size));
table(APART['processes'] . ' clients with locks of their own, one server on one CPU. Medians of the rounds', apart_rows($runs->medians()));

$bench->step('servers far away', fn () => measure_far($bench, $runs, $size));
table('Five servers, a round trip takes ' . FAR['round_trip_us'] / 1000 . ' ms more. ms, medians of the rounds', far_rows($runs->medians()));

$bench->step('many processes under one lock', fn () => measure_together($bench, $runs, TOGETHER[$size]));
foreach (measured_numbers($runs->medians()) as $processes) {
    table("$processes processes, sections of " . TOGETHER['us'] / 1000 . ' ms. ms, medians of the rounds', together_rows($runs->medians(), $processes));
}

$bench->step('many processes waiting', function () use ($bench, &$waiting) {
    foreach ($waiting['ways'] as $way) {
        $waiting['commands'][$way] = $bench->commands($way, $waiting['processes'], $waiting['seconds']);
    }
});
table("$waiting[processes] processes wait for $waiting[seconds] s. Commands per process, second and server", waiting_rows($waiting['commands']));

$bench->step('requests to php-fpm', function () use ($bench, $runs, $size) {
    ['rounds' => $rounds, 'requests' => $number] = PER_REQUEST[$size];
    $ways = $bench->available(PER_REQUEST['ways']);
    foreach ($bench->on_one_cpu(1, fn () => $bench->per_request($ways, $rounds, $number)) as [$way, $round, $figures]) {
        $runs->add($way, 'request', $round, $figures);
    }
});
$requests = array_filter(array_map(fn ($of_way) => $of_way['request'] ?? null, array_replace(array_flip(PER_REQUEST['ways']), $runs->medians())));
table('A request to php-fpm with a lock, over one without: µs; per request; KiB per worker', per_request_rows($requests));

$bench->step('servers with replicas', fn () => measure_replicated($bench, $runs, $size));
table('Servers with replicas. µs on one host; ms with ' . REPLICATED['round_trip_us'] / 1000 . ' ms between hosts, and where ' . REPLICATED['processes']
    . ' processes want one lock', replicated_rows($runs->medians()));

$bench->step('permits', fn () => measure_permits($bench, $runs, $size));
show_permits($runs);

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
write_csv("$directory/runs.csv", $runs->rows(requests: false));
write_csv("$directory/requests.csv", $runs->rows(requests: true));
foreach (plots($medians) as $name => $svg) {
    file_put_contents("$directory/$name.svg", $svg);
}
printf("\nTook %d s. Data: runs.csv, requests.csv, results.json; plots: sections.svg, handover.svg\n", $results['took']);
foreach ($bench->failures as $failure) {
    echo "FAILED $failure\n";
}
if ($overlaps > 0) {
    echo "FAILED two were under one lock at the same time\n";
}
exit($bench->failures === [] && $overlaps == 0 ? 0 : 1);
