<?php
/* What a lock costs in a request to php-fpm. A worker's first request with a lock, and its later ones, are compared
 * with requests of the same worker without a lock. Also what the servers see of it, and how much memory the worker
 * gains.
 *
 *   fpm.php ROUNDS REQUESTS WAYS PHP-OPTION...     WAYS: as JSON; the options are for php-fpm with dlock
 *
 * Prints one line of JSON for each round and way: times in µs, counts per request, summed over the servers. If a way
 * failed: {"way": …, "round": …, "error": …}.
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/zk.inc';
require_once __DIR__ . '/load/fastcgi.php';
require_once __DIR__ . '/load/measure.php';
require_once __DIR__ . '/figures.php';

const TIME_LIMIT = 20; // s, for a request
/** Requests without a lock, before the worker's first one with a lock. */
const WARM_UP = 8;

/** What clients have done on the servers so far. */
final class Seen
{
    /** @var list<RedisRaw> */
    private array $servers;
    /** @var array<int, true> all sessions so far */
    private array $sessions = [];

    /** @param list<PrivateRedis> $servers */
    public function __construct(array $servers, string $password)
    {
        $this->servers = array_map(fn (PrivateRedis $server) => new RedisRaw($server->address(), $password), $servers);
    }

    /** @return array{connects: int, auths: int, loads: int} */
    public function so_far(): array
    {
        $this->sessions += array_fill_keys(array_keys(zk_sessions(zk_hosts())), true);
        $seen = ['connects' => count($this->sessions), 'auths' => 0, 'loads' => 0];
        foreach ($this->servers as $server) {
            $seen['connects'] += connections_received($server);
            $seen['auths'] += $this->calls($server, 'auth|hello');
            $seen['loads'] += $this->calls($server, 'script\|load|script|eval'); // EVAL also sends the script
        }
        return $seen;
    }

    private function calls(RedisRaw $server, string $commands): int
    {
        preg_match_all("/^cmdstat_(?:$commands):calls=(\d+)/m", $server->cmd('INFO', 'commandstats'), $found);
        return array_sum($found[1]);
    }
}

/** A php-fpm with one worker. */
final class OneWorker
{
    private readonly Fpm $fpm;
    private readonly FastCgi $client;
    private int $pid = 0;

    /** @param list<string> $options for PHP */
    public function __construct(array $options)
    {
        putenv('TEST_PHP_EXTRA_ARGS=' . implode(' ', array_map('escapeshellarg', $options)));
        $this->fpm = new Fpm(workers: 1);
        $this->client = new FastCgi($this->fpm->socket(), __DIR__ . '/request.php');
    }

    /** Replaces the worker by a new one. */
    public function renew(): void
    {
        $pids = $this->fpm->workerPids();
        array_map(fn (int $pid) => posix_kill($pid, SIGQUIT), $pids);
        $this->pid = wait_for(fn () => array_values(array_diff($this->fpm->workerPids(), $pids))[0] ?? null, TIME_LIMIT, 'a new worker');
    }

    /** @return float how long it took, in µs */
    public function request(string $way): float
    {
        $start = hrtime(true);
        $number = $this->client->send(['way' => $way]);
        for ($answers = []; !isset($answers[$number]); $answers = $this->client->collect(1)) {
            hrtime(true) - $start < TIME_LIMIT * 1e9 || throw new RuntimeException('no answer');
        }
        $time = (hrtime(true) - $start) / 1e3;
        [$pid, $result] = explode(' ', $answers[$number]['body'] . $answers[$number]['error'], 2) + ['', ''];
        $pid === (string) $this->pid || throw new RuntimeException("worker $this->pid was asked, and the answer is $pid $result");
        $result === 'ok' || throw new RuntimeException($result);
        return $time;
    }

    /** KiB */
    public function memory(): int
    {
        return memory($this->pid)['pss'];
    }
}

/** One round of one way, in a new worker. @return array<string, float|int> */
function measure(OneWorker $worker, Seen $seen, string $way, int $requests): array
{
    $per_request = fn (array $from, array $to, string $when, int $n) =>
        array_combine(array_map(fn ($what) => "{$what}_$when", array_keys($to)), array_map(fn ($a, $b) => ($b - $a) / $n, $from, $to));
    $worker->renew();
    $before = $with = $without = [];
    for ($i = 0; $i < WARM_UP; $i++) {
        $before[] = $worker->request('');
    }
    $memory = $worker->memory();
    $start = $seen->so_far();
    $first = $worker->request($way);
    $middle = $seen->so_far();
    for ($i = 0; $i < $requests; $i++) {
        $with[] = $worker->request($way);
        $without[] = $worker->request('');
    }
    $end = $seen->so_far();
    return [
        'without' => median($without),
        'first' => $first - median($before),
        'later' => median($with) - median($without),
        ...$per_request($start, $middle, 'first', 1),
        ...$per_request($middle, $end, 'later', $requests),
        'memory' => $worker->memory() - $memory,
    ];
}

[, $rounds, $requests, $ways] = $argv;
$ways = json_decode($ways);
$password = bin2hex(random_bytes(16));
$servers = array_map(fn () => redis_private(["requirepass $password"]), range(1, 5));
putenv('DLOCK_TEST_REDIS=' . implode(',', array_map(fn (PrivateRedis $server) => $server->address(), $servers)));
putenv("DLOCK_BENCH_PASSWORD=$password"); // for the workers
$seen = new Seen($servers, $password);
$worker = new OneWorker(array_slice($argv, 4));

for ($round = 0; $round <= (int) $rounds; $round++) { // the first round warms the servers
    foreach ($round % 2 ? $ways : array_reverse($ways) as $way) {
        try {
            $figures = measure($worker, $seen, $way, (int) $requests);
        } catch (RuntimeException $e) {
            $figures = ['error' => $e->getMessage()];
        }
        if ($round > 0 || isset($figures['error'])) {
            echo json_encode(['way' => $way, 'round' => $round] + $figures), "\n";
        }
    }
}
