<?php
/* php-fpm with many workers that all use locks: what that costs, whether it stays the same, and what happens if a
 * resource runs out.
 *
 *   load.php WORKERS SECONDS MODULE     SECONDS: of each measurement of throughput; MODULE: dlock.so
 */
declare(strict_types=1);

ini_set('memory_limit', '-1');
require_once __DIR__ . '/../../tests/inc/zk.inc';
require_once __DIR__ . '/../../tests/inc/lease.inc';
foreach (['fastcgi', 'measure', 'servers'] as $part) {
    require_once __DIR__ . "/$part.php";
}

const SHARED = 20;
/** Lease times, and ZkLock's session timeout; seconds. */
const TTL = ['none' => 0.0, 'DistributedLock' => 60.0, 'RedLock' => 60.0, 'ZkLock' => 6.0];
/**
 * The test waits for a third of it. It leaves an attempt to renew the whole SERVER_TIME, so all leases share a
 * connection.
 */
const RENEWED_TTL = 21.0;
const SHORT_TTL = 2.0;
/** A busy machine may stand still for a second; an answer that is then late is not an error. */
const SERVER_TIME = 4;
/** A busy machine may add this to any time. */
const MARGIN = 15.0;

final class Checks
{
    public static int $passed = 0, $failed = 0;

    public static function that(bool $good, string $what, mixed ...$values): void
    {
        $good ? self::$passed++ : self::$failed++;
        echo $good ? 'PASS' : 'FAIL', " $what", $good || $values === [] ? '' : ': ' . substr(implode(', ', array_map('shown', $values)), 0, 600), "\n";
    }
}

/** The php-fpm of one class ("none": without the extension), and the requests to its workers. */
final class Pool
{
    public readonly Fpm $fpm;
    private readonly FastCgi $client;
    private readonly string $gate;
    /** @var resource */
    private $lock;

    public function __construct(private readonly string $class, public readonly int $workers, string $module)
    {
        putenv('TEST_PHP_EXTRA_ARGS=-n' . ($class === 'none' ? '' : ' -d ' . escapeshellarg("extension=$module")));
        $this->fpm = new Fpm([
            'display_errors' => 'stderr',
            'dlock.connect_timeout' => SERVER_TIME, 'dlock.read_timeout' => SERVER_TIME,
        ], $workers, ['rlimit_files = 256']);
        $this->client = new FastCgi($this->fpm->socket(), __DIR__ . '/request.php');
        $this->gate = "{$this->fpm->dir}/gate";
        $this->lock = fopen($this->gate, 'c');
    }

    /**
     * One request to each worker. All requests have begun before the first one continues.
     * @param callable(int): array $query by number
     * @return array{results: list<string>, pids: list<int>, longest: float, seconds: float}
     */
    public function all(callable $query, ?callable $meanwhile = null, float $timeout = 60): array
    {
        flock($this->lock, LOCK_EX);
        for ($i = 0; $i < $this->workers; $i++) {
            $this->send(['together' => 1] + $query($i));
        }
        $answers = [];
        $deadline = now() + $timeout;
        while ($this->client->begun() < $this->workers) {
            $answers += $this->client->collect(0.05);
            now() < $deadline || throw new RuntimeException("{$this->client->begun()} of $this->workers workers have begun");
        }
        $start = now();
        flock($this->lock, LOCK_UN);
        $meanwhile === null || $meanwhile();
        while ($this->client->underWay() > 0) {
            $answers += $this->client->collect(1);
            now() < $deadline || throw new RuntimeException("{$this->client->underWay()} requests have no answer");
        }
        return ['seconds' => now() - $start] + $this->results($answers);
    }

    /**
     * For $seconds, as many requests at a time as there are workers. $resource gets a number that no other request
     * under way has.
     */
    public function throughput(array $query, callable $resource, float $seconds): array
    {
        $start = now();
        $cpu = cpu_of($pids = $this->fpm->workerPids());
        $free = range(0, $this->workers - 1);
        $slots = $answers = [];
        do {
            while ($free !== [] && now() < $start + $seconds) {
                $slot = array_pop($free);
                $slots[$this->send(['resource' => $resource($slot)] + $query)] = $slot;
            }
            foreach ($done = $this->client->collect(1) as $number => $_) {
                $free[] = $slots[$number];
                unset($slots[$number]);
            }
            $answers += $done;
            now() < $start + $seconds + 90 || throw new RuntimeException("{$this->client->underWay()} requests have no answer");
        } while ($slots !== []);
        return ['per_second' => count($answers) / (now() - $start), 'cpu_ms' => (cpu_of($pids) - $cpu) / count($answers) * 1000] + $this->results($answers);
    }

    /** Returns the pid of a worker that holds the lock until it is killed. */
    public function holder(array $query): int
    {
        flock($this->lock, LOCK_EX);
        $this->send(['do' => 'hold'] + $query);
        return (int) wait_for(function () {
            $this->client->collect(0.05);
            return preg_match('/^(\d+) held$/', $this->client->said(), $found) ? $found[1] : null;
        }, 30, 'the holder');
    }

    /** How long one request waits for the lock while $meanwhile happens. @return array{string, float} */
    public function waiter(array $query, callable $meanwhile, float $timeout): array
    {
        $number = $this->send(['do' => 'lock'] + $query);
        $answers = [];
        $meanwhile();
        $deadline = now() + $timeout;
        while (!isset($answers[$number]) && now() < $deadline) {
            $answers += $this->client->collect(0.1);
        }
        wait_for(function () use (&$answers) {
            $answers += $this->client->collect(0.1);
            return $this->client->underWay() === 0;
        }, 30, 'the end of the requests');
        return array_slice(json_decode(strstr($answers[$number]['body'], ' '), true), 0, 2);
    }

    private function send(array $query): int
    {
        return $this->client->send($query + ['class' => $this->class, 'gate' => $this->gate, 'servers' => '', 'ttl' => TTL[$this->class]]);
    }

    /** @param array<int, array{body: string, error: string, seconds: float}> $answers */
    private function results(array $answers): array
    {
        $results = $pids = $times = [];
        foreach ($answers as ['body' => $body, 'error' => $error]) {
            [$pid, $json] = explode(' ', $body, 2) + ['', ''];
            $result = json_decode($json, true) ?? ["$body$error", 0.0];
            $pids[] = (int) $pid;
            $times[] = $result[1];
            $results[] = $result[0];
            if (isset($result[2])) {
                $results[] = $result[2];
            }
        }
        return ['results' => $results, 'pids' => array_values(array_unique($pids)), 'longest' => $times ? max($times) : 0.0];
    }
}

/** How often each result occurs. @param list<string> $results  @return array<string, int> */
function tally(array $results): array
{
    return array_count_values($results);
}

function all_ok(array $round, int $number): bool
{
    return tally($round['results']) === ['ok' => $number];
}

final class LoadTest
{
    /** @var array<string, array<string, string|float|null>> by row and class */
    private array $table = [];

    public function __construct(private readonly int $workers, private readonly float $seconds, private readonly string $module)
    {
    }

    private function note(string $row, string $class, string|float|int $value): void
    {
        $this->table[$row][$class] = $value;
    }

    public function withoutLocks(): void
    {
        $pool = new Pool('none', $this->workers, $this->module);
        $idle = max(array_column($this->settledBelongings($pool->fpm->workerPids()), 'descriptors'));
        $query = ['do' => 'work'];
        $round = $pool->all(fn (int $i) => ['resource' => "own-$i"] + $query);
        Checks::that(all_ok($round, $this->workers) && count($round['pids']) === $this->workers, "none: a request to each of $this->workers workers", tally($round['results']));
        $figures = $pool->throughput($query, fn (int $slot) => "own-$slot", $this->seconds);
        $this->noteProcesses('none', $pool->fpm->workerPids(), $idle);
        $this->noteThroughput('none', 'each its own lock', $figures);
        $this->noteThroughput('none', SHARED . ' locks', $figures);
        $pool->fpm->stop();
    }

    private function noteThroughput(string $class, string $what, array $figures): void
    {
        $this->note("requests per second, $what", $class, $figures['per_second']);
        $this->note("worker's CPU per request, $what, ms", $class, $figures['cpu_ms']);
    }

    /** @param list<int> $pids  @param int $idle descriptors of a worker that has had no request yet */
    private function noteProcesses(string $class, array $pids, int $idle): void
    {
        $memory = median_memory($pids);
        $belongings = $this->settledBelongings($pids);
        $this->note('memory per worker, PSS, MiB', $class, $memory['pss']);
        $this->note('memory per worker, private, MiB', $class, $memory['private']);
        $this->note('descriptors per worker, for locks', $class, range_of(array_map(fn (array $has) => $has['descriptors'] - $idle, $belongings)));
        $this->note('threads per worker', $class, range_of(array_column($belongings, 'threads')));
    }

    /** php-fpm closes the connection of a request a little after its answer. @param list<int> $pids */
    private function settledBelongings(array $pids): array
    {
        wait_for(function () use ($pids, &$last) {
            [$before, $last] = [$last, belongings_of($pids)];
            return $before === $last;
        }, 20, 'all requests to be over');
        return $last;
    }

    public function withLocks(string $class, Servers $servers): void
    {
        $n = $this->workers;
        // The servers that will be full. They start now because RedLock's servers have no vote while they are young.
        $limited = $servers instanceof RedisSet ? new RedisSet(count($servers->connections())) : new ZooKeeper();
        $pool = new Pool($class, $n, $this->module);
        $pids = $pool->fpm->workerPids();
        // The workers have inherited some of these descriptors from this process.
        $idle = max(array_column($this->settledBelongings($pids), 'descriptors'));
        $query = ['servers' => $servers->addresses(), 'do' => 'lock'];
        $shared = array_map(fn (int $i) => "shared-$i", range(0, SHARED - 1));
        $own = fn (array $more = []) => $pool->all(fn (int $i) => ['resource' => "own-$i"] + $more + $query);
        $per_worker = fn () => range_of(array_map(fn (array $ids) => count($ids), $servers->connections()));
        $redis = $servers instanceof RedisSet;
        $say = fn (bool $good, string $what, mixed ...$values) => Checks::that($good, "$class: $what", ...$values);

        // ---- each use that opens connections, one after the other ----
        $round = $own(['renew' => 0]);
        $say(all_ok($round, $n) && count($round['pids']) === $n, "a lock in each of $n workers", tally($round['results']), count($round['pids']));
        $say($per_worker() === (string) $n, 'one connection per worker to each server, for commands', $per_worker());
        $wait = function (array $more = []) use ($pool, $query, $shared, $servers, $n) {
            $servers->take($shared);
            return $pool->all(fn (int $i) => ['resource' => $shared[$i % SHARED]] + $more + $query, function () use ($servers, $n) {
                wait_for(fn () => $servers->waiters() === $n, 60, "$n waiters");
                $servers->giveBack();
            }, 120);
        };
        $round = $wait(['renew' => 0]);
        $say(all_ok($round, $n), "$n waiters at a time get their locks", tally($round['results']));
        // On a busy machine, a server may refuse a lock that is then held for a while. The worker repairs it over its
        // third connection.
        $good = $class === 'RedLock' ? array_filter($servers->connections(), fn (array $ids) => count($ids) < 2 * $n || count($ids) > 3 * $n) === []
            : $per_worker() === (string) ($redis ? 2 * $n : $n);
        $say($good, $redis ? 'a second one where it has waited' : 'no other one for waiting', $per_worker());
        if ($redis) {
            $round = $own(['do' => 'lock until renewed', 'ttl' => RENEWED_TTL]);
            $say(all_ok($round, $n), 'leases held until they are renewed', tally($round['results']));
            $say($per_worker() === (string) (3 * $n), 'a third one where it has renewed', $per_worker());
        }

        // ---- from then on, no worker needs more ----
        $connections = $servers->connections();
        $accepted = $servers->accepted();
        $belongings = $this->settledBelongings($pids);
        $before = median_memory($pids);
        $say(all_ok($own(), $n) && all_ok($wait(), $n), 'the same again');
        $figures = $pool->throughput($query, fn (int $slot) => "own-$slot", $this->seconds);
        $this->noteThroughput($class, 'each its own lock', $figures);
        $say(array_keys(tally($figures['results'])) === ['ok'], 'requests for ' . $this->seconds . ' s, each with its own lock', tally($figures['results']));
        $figures = $pool->throughput($query, fn (int $slot) => $shared[$slot % SHARED], $this->seconds);
        $this->noteThroughput($class, SHARED . ' locks', $figures);
        $say(array_keys(tally($figures['results'])) === ['ok'], "requests for $this->seconds s on " . SHARED . ' locks', tally($figures['results']));
        // If a busy machine stops a waiter for 3 s, the waiter is taken for dead, and closes the connection on which it
        // waited.
        $new = array_map('array_diff', $servers->connections(), $connections);
        $say(array_filter($new) === [], 'no other connections at the end', $new);
        $say($servers->accepted() === $accepted, 'nobody has connected meanwhile', $accepted, $servers->accepted());
        $later = $this->settledBelongings($pool->fpm->workerPids());
        $more = array_filter($later, fn (array $has, int $pid) => !isset($belongings[$pid])
            || $has['descriptors'] > $belongings[$pid]['descriptors'] || $has['threads'] > $belongings[$pid]['threads'], ARRAY_FILTER_USE_BOTH);
        $say($more === [], 'the same workers with no more descriptors and threads', $more);
        $after = median_memory($pids);
        $say($after['private'] < $before['private'] + 0.5, 'memory does not grow', $before, $after);
        $this->note('connections per worker to each server', $class, count($connections[0]) / $n);
        $this->noteProcesses($class, $pids, $idle);
        $needed = $redis ? 3 * count($connections) + 1 : 5;
        $say(max(array_column($later, 'descriptors')) - $idle === $needed, "$needed descriptors for it, as docs/operations.md says", $idle, $later);
        wait_for(fn () => $servers->areEmpty(), 20, 'nothing to be left');
        $say($servers->areEmpty(), 'no lock, queue or node is left');

        // ---- a worker that is killed ----
        $ttl = ['ttl' => SHORT_TTL, 'resource' => 'killed'] + $query;
        $holder = $pool->holder($ttl);
        $killed = 0.0;
        [$result] = $pool->waiter($ttl, function () use ($holder, &$killed, $servers) {
            wait_for(fn () => $servers->waiters() === ($servers instanceof RedisSet ? 1 : 2), 20, 'the waiter');
            posix_kill($holder, SIGKILL);
            $killed = now();
        }, SHORT_TTL + MARGIN);
        $time = now() - $killed;
        $say($result === 'ok' && $time < SHORT_TTL + MARGIN, 'what a killed worker held is free after its time', $result, $time);
        $this->note('free after its holder was killed, s', $class, $time);

        $this->limits($class, $pool, $limited, $say);
        $pool->fpm->stop();
        wait_for(fn () => array_filter($servers->connections()) === [], 20, 'the connections to be closed');
        $say(array_filter($servers->connections()) === [], 'nobody is connected when php-fpm has ended');
    }

    /** What runs out, and is available again later. $servers are separate servers, which have no clients yet. */
    private function limits(string $class, Pool $pool, Servers $servers, callable $say): void
    {
        $n = $this->workers;
        wait_for(fn () => count($pool->fpm->workerPids()) === $n, 30, 'another worker for the one that was killed');
        $pids = $pool->fpm->workerPids();
        // By now, the servers have been up for this lease time.
        $query = ['servers' => $servers->addresses(), 'do' => 'try'] + ($class === 'ZkLock' ? [] : ['ttl' => 10.0]);
        $each = fn (array $more = []) => $pool->all(fn (int $i) => ['resource' => "limit-$i"] + $more + $query, timeout: 120);
        $name = $class === 'ZkLock' ? 'maxClientCnxns' : 'maxclients';
        $place = '127\.0\.0\.1:\d+';
        $full = match ($class) {
            'DistributedLock' => "/^Dlock.ConnectionException: Redis at $place: ERR max number of clients reached; see maxclients in its configuration$/",
            'RedLock' => "/^Dlock.QuorumException: [23] of 3 servers failed.*?(; Redis at $place: ERR max number of clients reached; see maxclients in its configuration){2,3}$/",
            // Workers retry so often that a server's queue of new connections may be full, too, or that the server has
            // not closed one yet.
            'ZkLock' => "/^Dlock.ConnectionException: ZooKeeper at $place: no connection for .* s \($place: (closes connections as soon as .*maxClientCnxns|does not accept|accepts connections but opens no session)/",
        };
        $room = $servers->limit();
        $longest = 0.0;
        foreach (['', ', asked again'] as $again) {
            $round = $each();
            $longest = max($longest, $round['longest']);
            $refused = array_values(array_filter($round['results'], fn (string $result) => $result !== 'ok'));
            $ok = count($round['results']) - count($refused);
            // Each of RedLock's servers may accept other workers.
            [$least, $most] = $class === 'RedLock' ? [1, intdiv(3 * $room, 2)] : [$room, $room];
            $say($ok >= $least && $ok <= $most, "$name$again: as many as there is room for have a lock", $ok, $room);
            $unclear = tally(array_filter($refused, fn (string $result) => !preg_match($full, $result)));
            $say($unclear === [] && count($refused) === $n - $ok, "$name$again: the others know the server and the limit", $unclear);
            $say($round['longest'] < ($class === 'ZkLock' ? TTL[$class] : 0) + MARGIN, "$name$again: all know in time", $round['longest']);
        }
        $class === 'ZkLock' && $say(str_contains(implode($refused), $name), "$name: named");
        $this->note("longest answer with $name reached, s", $class, $longest);
        $servers->unlimit();
        // ZkLock connects in the background.
        $round = $each(['timeout' => $class === 'ZkLock' ? TTL[$class] : 0]);
        $say(all_ok($round, $n), "$name raised: all have a lock", tally($round['results']));

        $round = $each(['do' => 'try without descriptors']);
        $results = tally(array_map(fn (string $result) => preg_match("/^Dlock.\w+: .*(Redis|ZooKeeper) at $place: .*Too many open files/", $result) ? 'too many' : $result, $round['results']));
        ksort($results);
        $say($results === ['ok' => $n, 'too many' => $n], 'RLIMIT_NOFILE: each worker says so and names the server, and has its lock when there are descriptors', $results);
        $now = $pool->fpm->workerPids();
        sort($pids);
        sort($now);
        $say($now === $pids, 'no worker has died of it', array_diff($pids, $now));
    }

    public function printTable(): void
    {
        $classes = ['none', 'DistributedLock', 'RedLock', 'ZkLock'];
        printf("\n%d php-fpm workers%36s%18s%18s%18s\n", $this->workers, 'no locks', ...array_slice($classes, 1));
        foreach ($this->table as $row => $values) {
            printf('%-50s', $row);
            foreach ($classes as $class) {
                $value = $values[$class] ?? '';
                $base = $values['none'] ?? null;
                $shown = is_float($value) ? sprintf($value >= 100 ? '%.0f' : '%.2f', $value) : (string) $value;
                if (is_float($value) && is_float($base) && $class !== 'none') {
                    $shown .= sprintf(' (x%.2f)', $value / $base);
                }
                printf(str_starts_with($class, 'none') ? '%10s' : '%18s', $shown);
            }
            echo "\n";
        }
    }
}

[, $workers, $seconds, $module] = $argv;
pcntl_async_signals(true);
foreach ([SIGINT, SIGTERM, SIGHUP] as $signal) { // exit runs what stops the servers
    pcntl_signal($signal, fn () => exit(1));
}
set_error_handler(fn (int $code, string $message, string $file, int $line) => error_reporting() & $code
    ? throw new ErrorException($message, 0, $code, $file, $line) : false);
$test = new LoadTest((int) $workers, (float) $seconds, $module);
$start = now();
foreach (['none' => null, 'DistributedLock' => fn () => new RedisSet(1), 'RedLock' => fn () => new RedisSet(3), 'ZkLock' => fn () => new ZooKeeper()] as $class => $servers) {
    echo "\n== $class\n";
    try {
        $servers === null ? $test->withoutLocks() : $test->withLocks($class, $servers());
    } catch (Exception $e) {
        Checks::that(false, "$class: " . $e::class . " {$e->getMessage()} at line {$e->getLine()}");
    }
}
$test->printTable();
printf("\nTook %.0f s\n%d passed, %d failed\n", now() - $start, Checks::$passed, Checks::$failed);
exit(Checks::$failed === 0 ? 0 : 1);
