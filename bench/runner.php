<?php
/* Runs the programs that measure, and reads what they print. */
declare(strict_types=1);

require_once __DIR__ . '/usage.php';

/** Runs the commands, and remembers the failures. */
final class Bench
{
    /** @var list<string> */
    public array $failures = [];
    /** @var list<string> what is put before each command */
    private array $prefix = [];
    /** @var list<string> "host:port" of the Redis servers, in their order */
    private readonly array $redis;
    private readonly Usage $usage;

    /**
     * @param string $limit,$delay bench/limit.c and bench/delay.c, compiled
     * @param list<string> $php how to run PHP with the extension
     */
    public function __construct(private readonly string $limit, private readonly string $delay, private readonly string $directory, private readonly array $php)
    {
        $this->redis = array_slice(explode(',', getenv('DLOCK_TEST_REDIS')), 0, 5);
        $this->usage = new Usage($this->redis);
    }

    /** Processes under one lock, or apart, each under its own. @return array<string, ?float>|null null if it failed */
    public function sections(string $way, bool $apart, int $processes, int $sections, int $us): ?array
    {
        $way = ON_ONE_CPU[$way] ?? $way;
        $words = [$apart ? 'apart' : 'together', (string) $processes, (string) $sections, (string) $us];
        if ($way === ONE_STOPPED) { // a stopped server cannot report what it has used
            [$lines, $used] = $this->one_stopped(fn () => $this->run([...$this->php, __DIR__ . '/contend.php', 'RedLock', ...$words], 0));
        } else {
            [$lines, $used] = $this->run([...$this->program_of($way), ...$words, ...$this->servers_for($way)], servers_of($way));
        }
        return $lines === null ? null : figures(array_map(fn ($line) => array_map('intval', explode(' ', $line)), $lines), $used, $apart);
    }

    /**
     * Calls $do with the first $count Redis servers on one CPU. If $clients is true, programs that it starts run there,
     * too.
     * @param list<int> $more pids of other servers
     */
    public function on_one_cpu(int $count, callable $do, bool $clients = true, array $more = []): mixed
    {
        preg_match('/^Cpus_allowed_list:\s*((\d+).*)$/m', file_get_contents('/proc/self/status'), $allowed);
        $pids = [...$count > 0 ? array_map($this->server_pid(...), range(1, $count)) : [], ...$more];
        $place_servers = function (string $cpus) use ($pids) {
            foreach ($pids as $pid) {
                exec("taskset --all-tasks --pid --cpu-list $cpus $pid");
            }
        };
        $place_servers($allowed[2]);
        $this->prefix = $clients ? ['taskset', '--cpu-list', $allowed[2]] : [];
        try {
            return $do();
        } finally {
            $this->prefix = [];
            $place_servers($allowed[1]);
        }
    }

    /**
     * Calls $do while the Redis servers are far away: a round trip takes $round_trip_us longer. Passes the addresses
     * that $more have then.
     * @param list<string> $more
     */
    public function far(int $round_trip_us, callable $do, array $more = []): mixed
    {
        $relay = proc_open([$this->delay, (string) intdiv($round_trip_us, 2), ...$this->redis, ...$more], [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $addresses = explode(' ', trim((string) fgets($pipes[1])));
        $near = getenv('DLOCK_TEST_REDIS');
        putenv('DLOCK_TEST_REDIS=' . implode(',', array_slice($addresses, 0, count($this->redis))));
        try {
            count($addresses) === count($this->redis) + count($more) || throw new RuntimeException('no relay');
            return $do(...array_slice($addresses, count($this->redis)));
        } finally {
            putenv("DLOCK_TEST_REDIS=$near");
            fclose($pipes[0]);
            proc_close($relay);
        }
    }

    /**
     * The ways that can be measured on this machine.
     * @param list<string> $ways
     */
    public function available(array $ways): array
    {
        return array_values(array_filter($ways, fn ($way) => $way !== 'predis by hand' || stream_resolve_include_path('Predis/autoload.php')));
    }

    /** Runs a step. If it fails, the other steps still run. */
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

    /** @param list<string> $ways  @return list<array{string, int, array<string, float>}> way, round, figures */
    public function per_request(array $ways, int $rounds, int $requests): array
    {
        // With opcache, as in production: without it, classes in PHP cost more.
        $options = [...array_slice($this->php, 1), ...has_opcache() ? ['-d', 'zend_extension=opcache'] : []];
        $lines = $this->php('fpm.php', (string) $rounds, (string) $requests, json_encode($ways), ...$options) ?? [];
        $runs = [];
        foreach ($lines as $line) {
            ['way' => $way, 'round' => $round] = $figures = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            if (isset($figures['error'])) {
                $this->failures[] = "fpm.php $way: $figures[error]\n";
                continue;
            }
            unset($figures['way'], $figures['round']);
            $runs[] = [$way, $round, array_map('floatval', $figures)];
        }
        return $runs;
    }

    /** @return list<string> the program that measures the way, with the way's name there */
    private function program_of(string $way): array
    {
        return isset(LIMITS[$way]) ? [$this->limit, LIMITS[$way][0]] : [...$this->php, __DIR__ . '/contend.php', $way];
    }

    /** @return list<string> the servers among that program's arguments */
    private function servers_for(string $way): array
    {
        return match (true) {
            !isset(LIMITS[$way]) => [], // it reads the environment
            LIMITS[$way][1] === 0 => [getenv('DLOCK_TEST_ZK')],
            default => array_slice(explode(',', getenv('DLOCK_TEST_REDIS')), 0, LIMITS[$way][1]),
        };
    }

    private function php(string $script, string ...$arguments): ?array
    {
        return $this->run([...$this->php, __DIR__ . "/$script", ...$arguments], 0)[0];
    }

    private function one_stopped(callable $do): mixed
    {
        $pid = $this->server_pid(3);
        posix_kill($pid, SIGSTOP);
        try {
            return $do();
        } finally {
            posix_kill($pid, SIGCONT);
            (new RedisRaw($this->redis[2], timeout: 60))->cmd('PING'); // it replies once it has caught up
        }
    }

    private function server_pid(int $number): int
    {
        return (int) file_get_contents(getenv('DLOCK_TEST_DIR') . "/redis$number/pid");
    }

    /**
     * @param list<string> $command
     * @param int $servers how many Redis servers report what they have used between the program's "ready" and its
     * "done"
     * @return array{list<string>|null, array{cpu: float, in: int, out: int}|null} its lines of output; what was used
     */
    private function run(array $command, int $servers): array
    {
        $errors = "$this->directory/errors";
        $process = proc_open([...$this->prefix, ...$command], [['pipe', 'r'], ['pipe', 'w'], ['file', $errors, 'w']], $pipes);
        $lines = [];
        $before = $used = null;
        while (($line = fgets($pipes[1])) !== false) {
            $line = rtrim($line, "\n");
            if ($line === 'ready') {
                $before = $this->usage->before($servers);
            } elseif ($line === 'done') {
                $used = $this->usage->since($before, $servers);
            } else {
                $lines[] = $line;
                continue;
            }
            fwrite($pipes[0], "\n"); // the program waits for this line
        }
        array_map('fclose', $pipes);
        $code = proc_close($process);
        $said = implode("\n", [...$code === 0 ? [] : $lines, trim(file_get_contents($errors))]);
        unlink($errors);
        if ($code === 0 && $lines !== []) {
            return [$lines, $servers > 0 ? $used : null];
        }
        $words = array_slice($command, $command[0] === $this->limit ? 0 : count($this->php));
        $this->failures[] = basename(array_shift($words)) . ' ' . implode(' ', $words) . ": exit code $code\n" . substr($said, -2000);
        return [null, null];
    }
}
