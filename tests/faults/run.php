<?php
/* One run: clients of one lock class on servers of its own, under faults, and what the checker reports of it.
 *
 *   DLOCK_FAULTS_PHP='options of PHP that load the extension' php run.php CLASS SECONDS SEED DIR [FLAGS]
 *
 * FLAGS, separated by commas:
 *   "forget": Redis servers also restart without their data.
 *   "restart": they do, without any other fault.
 *   "fail-over": only failovers from one server to its replica.
 *   "needed-key": one server of a quorum forgets a lock's key, without any other fault.
 *   "unconfirmed": no replica has to confirm anything.
 *   "strands": fewer processes, with eight clients in each.
 *   "young": faults only in the first seconds of sets of servers, one set after the other.
 *   "until": the run ends at the first violation.
 * The last line is "N passed, N failed". */
declare(strict_types=1);

ini_set('memory_limit', '-1');
require __DIR__ . '/inc/journal.php';
require __DIR__ . '/inc/chance.php';
require __DIR__ . '/inc/setting.php';
require __DIR__ . '/inc/record.php';
require __DIR__ . '/inc/servers.php';
require __DIR__ . '/inc/memcached.php';
require __DIR__ . '/inc/replicated.php';
require __DIR__ . '/inc/crew.php';
require __DIR__ . '/inc/nemesis.php';
require __DIR__ . '/inc/young.php';
require __DIR__ . '/inc/finale.php';
require __DIR__ . '/inc/report.php';

final class Run
{
    private readonly Journal $journal;
    private readonly Servers $servers;
    private readonly RedisProcess $recordServer;
    private readonly Crew $crew;
    private readonly Faults $faults;
    /** @var resource|null */
    private $auditor = null;
    private float $seconds = 0;

    private const CLIENTS = 12, PROCESSES_WITH_STRANDS = 5, STRANDS = 8;
    private readonly int $clients;

    /** @param list<string> $flags */
    public function __construct(private readonly string $class, private readonly int $seed, private readonly string $dir, private readonly array $flags)
    {
        mkdir("$dir/history", 0700, true);
        $this->journal = new Journal("$dir/runner.jsonl");
        $this->clients = $this->has('strands') ? self::PROCESSES_WITH_STRANDS : self::CLIENTS;
        $this->recordServer = new RedisProcess("$dir/record", ['save ""', 'appendonly no']);
        $permits = Setting::hasPermits($class) ? Setting::capacity($class) : null;
        $this->servers = match (Setting::servers($class)) {
            'Redis' => $this->has('fail-over') ? new RedisServers(2, $dir, true) : new RedisServers(1, $dir, permits: $permits),
            'RedLock' => new RedisServers($this->has('young') ? 3 : 5, $dir),
            'ZooKeeper' => new ZooKeeperServers($dir),
            'Memcached' => new MemcachedServers($dir),
            'Sentinel' => new SentinelServers($dir, !$this->has('unconfirmed'), new Chance($seed, 'servers'), $permits),
            'Cluster' => new ClusterServers($dir, !$this->has('unconfirmed'), new Chance($seed, 'servers'), $permits),
        };
        $config = ['class' => $class, 'record' => $this->recordServer->address(), 'dir' => $dir, 'seed' => $seed]
            + ($this->longer() ? ['lengths' => ['short' => 2, 'long' => 2, 'too long' => 1] + (Setting::hasReplicas($class) ? ['over a fail-over' => 2] : [])] : []);
        $config += $this->has('strands') ? ['strands' => self::STRANDS] : [];
        // Fencing tokens survive the end of all servers by the clients' clocks.
        $this->crew = new Crew($this->clients, $config, $this->journal, $this->servers, !$this->has('young'));
        $this->auditor = $this->servers instanceof RedisServers && $this->servers->permits !== null ? $this->auditor() : null;
        $this->faults = $this->has('young') ? new YoungSets($seed, $this->servers, $this->crew, $this->journal) : $this->nemesis();
    }

    /** Do clients hold for longer than usual, because another client needs more than a moment to acquire the lock? */
    private function longer(): bool
    {
        return $this->has('young') || $this->has('needed-key') || $this->has('unconfirmed') || ($this->has('restart') && $this->class !== 'DistributedLock');
    }

    /** @return resource */
    private function auditor()
    {
        $config = ['class' => $this->class, 'address' => $this->servers->servers[0]->address(), 'dir' => $this->dir];
        return proc_open(['setpriv', '--pdeathsig', 'KILL', PHP_BINARY, '-n', __DIR__ . '/auditor.php', json_encode($config)],
            [['file', '/dev/null', 'r'], ['file', "$this->dir/auditor.err", 'a'], ['redirect', 1]], $pipes) ?: throw new RuntimeException('cannot start the auditor');
    }

    private function nemesis(): Nemesis
    {
        $special = match (true) {
            $this->has('fail-over') => 'server fail-over',
            $this->has('needed-key') => 'server forgets a needed key',
            $this->has('forget'), $this->has('restart') => 'server restart without data',
            default => null,
        };
        return new Nemesis($this->seed, $this->servers, $this->crew, $this->clients, $this->journal, $special,
            $this->has('fail-over') || $this->has('restart') || $this->has('needed-key'), Setting::weather($this->class),
            $this->class === 'Memcached' && !$this->has('restart') ? 2.0 : 1.0);
    }

    /** False: a check during the run found a violation. */
    public function faults(float $seconds): bool
    {
        $start = nanoseconds();
        $checked = $start;
        while (($passed = nanoseconds() - $start) < $seconds * 1e9) {
            $this->crew->reap();
            $this->crew->fill();
            $this->faults->tick();
            $this->servers->check();
            $this->servers->links()->runs() || throw new RuntimeException("the relay ended: see $this->dir/relay.log");
            usleep(10_000);
            if ($this->has('until') && nanoseconds() - $checked > 3e9) {
                exec(escapeshellarg(PHP_BINARY) . ' -n ' . escapeshellarg(__DIR__ . '/check.php') . ' ' . escapeshellarg($this->dir) . ' --safety', $output, $code);
                $checked = nanoseconds();
                if ($code !== 0) {
                    $this->seconds = $passed / 1e9;
                    $this->faults->stop();
                    $this->crew->killAll();
                    return false;
                }
            }
        }
        $this->seconds = $passed / 1e9;
        return true;
    }

    /** Ends the faults and the clients, and checks what they left. */
    public function finish(): void
    {
        $this->faults->stop();
        if ($this->has('young')) {
            $this->crew->end(); // these sets leave nothing to check
            return;
        }
        $this->servers->waitUntilReady();
        $this->crew->dismiss([1, 3, 5, 7, 9]);
        $started = $asked = nanoseconds();
        try {
            wait_for(function () use (&$asked) {
                if (nanoseconds() - $asked > Setting::MARGIN * 1e9) {
                    $asked = nanoseconds();
                    $this->crew->remind();
                }
                $this->crew->reap();
                return $this->crew->size() === 0;
            }, Setting::LONGEST_TIMEOUT + 2 * Setting::MARGIN);
        } catch (RuntimeException) {
            for ($place = 0; $place < $this->clients; $place++) {
                $this->crew->name($place) === null || $this->journal->write('stuck', ['name' => $this->crew->name($place), 't0' => $started]);
            }
            $this->crew->killAll();
        }
        (new Finale($this->class, $this->servers, $this->journal, $this->dir))->run();
    }

    /** @return int exit status */
    public function report(bool $whole): int
    {
        $record = new Record($this->recordServer->address());
        foreach (Setting::RESOURCES as $resource) {
            foreach ($record->journal($resource) as $entry) {
                $this->journal->write('record', ['r' => $resource, 'entry' => $entry]);
            }
            $this->journal->write('value', ['r' => $resource, 'value' => $record->value($resource)]);
        }
        if ($whole && Setting::kind($this->class) === 'Stock') {
            foreach (Setting::resources($this->class) as $article) {
                $key = Setting::prefix($this->class) . $article;
                $books = new Books($this->servers instanceof ReplicatedServers ? $this->servers->master($key) : $this->servers->servers[0]->raw(), $key);
                $sold = $books->sold();
                $this->journal->write('stock', ['r' => $article, 'stock' => $books->number('stock'), 'sold' => array_combine(array_map(encoded(...), array_keys($sold)), $sold),
                    'changes' => array_combine(array_map(rawurldecode(...), array_keys($books->changes())), $books->changes()), 'reserved' => $books->live()]);
            }
        }
        foreach ($record->strangers() as $key) {
            $this->journal->write('left', ['what' => "$key on the record's server", 'after' => 0]);
        }
        $history = History::read($this->dir);
        $properties = !$whole ? SAFETY : ($this->has('young') ? WITHOUT_FINALE : array_keys(PROPERTIES));
        $found = violations($history, array_values(array_intersect($properties, properties_of($this->class))));
        print_figures($this->class . ($this->has('young') ? ', the first seconds of sets' : ''), $this->seed, $this->seconds, $history, $found);
        print_violations($found);
        $failed = count(array_filter($found));
        printf("%d passed, %d failed\n", count($found) - $failed, $failed);
        return $failed > 0 ? 1 : 0;
    }

    private function has(string $flag): bool
    {
        return in_array($flag, $this->flags, true);
    }

    public function stop(): void
    {
        $this->auditor && proc_terminate($this->auditor, SIGKILL);
        $this->crew->killAll();
        $this->crew->reap();
        $this->servers->stop();
        $this->recordServer->kill();
    }
}

[, $class, $seconds, $seed, $dir] = $argv;
set_error_handler(fn (int $code, string $message, string $file, int $line) => error_reporting() & $code
    ? throw new ErrorException($message, 0, $code, $file, $line) : false);
$run = new Run($class, (int) $seed, $dir, array_filter(explode(',', $argv[5] ?? '')));
try {
    if ($whole = $run->faults((float) $seconds)) {
        $run->finish();
    }
    $status = $run->report($whole);
} finally {
    $run->stop();
}
exit($status);
