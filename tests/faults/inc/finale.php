<?php
declare(strict_types=1);

require_once __DIR__ . '/crew.php';
require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/setting.php';

/** The checks after the faults. */
final class Finale
{
    /** Seconds after which Redis has forgotten queues, and waiters that died. It needs at most two minutes. */
    private const FORGOTTEN = 125;
    /** Of five servers. */
    private const MINORITY = [3, 4];
    /** How wrong the contenders' wall clocks are, in seconds: more than those of the clients before. */
    private const CLOCKS = [0.0, 1200.0, -1200.0, 0.0, 30.0, -30.0];

    public function __construct(private readonly string $class, private readonly Servers $servers, private readonly Journal $journal, private readonly string $dir)
    {
    }

    public function run(): void
    {
        $this->probe('free');
        $this->probe('after a dead holder');
        $names = $this->class === 'RedLock' ? $this->beginNames() : null;
        $this->contest('contest', 'contender');
        $names && $this->endNames($names);
        $this->class === 'RedLock' && $this->contestWithoutMinority();
        $this->class === 'RedLock' && $this->releaseOverLateLinks();
        $this->leftovers();
    }

    private function probe(string $what): void
    {
        $probes = [];
        foreach (Setting::RESOURCES as $resource) {
            $probes[$resource] = $this->start($resource, $what);
        }
        foreach ($probes as $resource => [$process, $input, $output]) {
            $entry = json_decode((string) fgets($output), true) ?? ['ok' => false, 't0' => 0, 't1' => 0, 'e' => 'the probe said nothing'];
            // The leader notices an expired session only at its next tick.
            $this->journal->write('probe', ['r' => $resource, 'what' => $what,
                'limit' => max(Setting::leaseOver($this->class), Setting::SESSION_TIMEOUT) + Setting::MARGIN] + $entry);
            fclose($input);
            proc_close($process);
        }
    }

    /** A contest while two of five servers do not answer. */
    private function contestWithoutMinority(): void
    {
        foreach (self::MINORITY as $server) {
            $this->servers->signal($server, SIGSTOP);
        }
        $this->contest('contest without a minority', 'rival', 2.0);
        foreach (self::MINORITY as $server) {
            $this->servers->signal($server, SIGCONT);
        }
    }

    /** Clients whose clocks differ by minutes compete for one lock. @param float $settling seconds that do not count */
    private function contest(string $resource, string $kind, float $settling = 0.0): void
    {
        $config = ['class' => $this->class, 'servers' => $this->servers->specifications(true), 'resource' => $resource, 'dir' => $this->dir];
        $contenders = [];
        foreach (self::CLOCKS as $i => $clock) {
            $contenders["$kind$i"] = start_client(['name' => "$kind$i", 'permits' => Setting::contest($this->class)[$i]] + $config, "$this->dir/$kind$i.err", Setting::isOnZooKeeper($this->class) ? 0.0 : $clock, null, 'contender.php');
        }
        $names = array_keys($contenders);
        $entries = fn (string $name, string $kind) => substr_count((string) @file_get_contents("$this->dir/history/$name.jsonl"), $kind);
        wait_for(fn () => min(array_map(fn (string $name) => $entries($name, '"o":"ask"'), $names)) > 0, 30, 'all contenders');
        try {
            // The first turn also opens a connection. If a contender gets none in time, the contest shows that.
            wait_for(fn () => min(array_map(fn (string $name) => $entries($name, '"ok":true'), $names)) > 0, Setting::CONTEST);
        } catch (RuntimeException) {
        }
        usleep((int) ($settling * 1e6));
        $from = nanoseconds();
        usleep((int) (Setting::CONTEST * 1e6));
        try {
            // On a busy machine, it takes longer until there are enough turns to judge.
            wait_for(fn () => array_sum(array_map(fn (string $name) => $entries($name, '"ok":true'), $names)) >= 2 * count($names) * Setting::LEAST_TURNS, 30);
        } catch (RuntimeException) {
        }
        $this->journal->write('contest', ['r' => $resource, 't0' => $from, 't1' => nanoseconds(), 'names' => $names]);
        foreach ($contenders as $contender) {
            proc_terminate($contender);
        }
        foreach ($contenders as $name => $contender) {
            try {
                wait_for(fn () => !proc_get_status($contender)['running'], Setting::MARGIN);
            } catch (RuntimeException) {
                $this->journal->write('stuck', ['name' => $name, 't0' => nanoseconds()]);
                proc_terminate($contender, SIGKILL);
            }
            proc_close($contender);
        }
    }

    /** The names of a minority hang, and connections to these servers end, while leases are held. */
    private function beginNames(): array
    {
        $process = $this->start('names', 'names', true);
        fgets($process[2]); // the leases are held and have been renewed
        foreach (self::MINORITY as $server) {
            $this->servers->names()->trouble($server, 4 * Setting::RENEWED_TTL, true);
            $this->servers->links()->order($server, ['cut' => true]);
            $this->servers->links()->order($server);
        }
        fwrite($process[1], "\n");
        return $process;
    }

    private function endNames(array $process): void
    {
        [$process, $input, $output] = $process;
        foreach (json_decode((string) fgets($output), true) ?? ['the probe said nothing'] as $what) {
            $this->journal->write('lost by name', ['what' => $what]);
        }
        array_map($this->servers->names()->end(...), self::MINORITY);
        fclose($input);
        proc_close($process);
    }

    /**
     * Two servers are late while a lock is acquired, and hear of it only after its release. It must not appear there
     * then.
     */
    private function releaseOverLateLinks(): void
    {
        $late = self::MINORITY;
        foreach ($late as $link) {
            $this->servers->links()->order($link, ['up' => false]);
        }
        usleep(100_000);
        [$process, $input, $output] = $this->start('late', 'late');
        $entry = json_decode((string) fgets($output), true);
        foreach ($late as $link) {
            $this->servers->links()->order($link);
        }
        $key = Setting::PREFIX . 'late';
        $began = nanoseconds();
        try {
            // The late acquire has to arrive first: only then it is clear whether the release follows it.
            usleep(1_000_000);
            wait_for(fn () => array_sum(array_map(fn (int $i) => $this->servers->servers[$i]->raw()->cmd('EXISTS', $key), $late)) === 0, Setting::MARGIN);
        } catch (RuntimeException) {
            $this->journal->write('left', ['what' => 'a lock on servers that heard late of its release', 'after' => (nanoseconds() - $began) / 1e9]);
        }
        ($entry['ok'] ?? false) || $this->journal->write('left', ['what' => 'no lock by three of five servers: ' . json_encode($entry), 'after' => 0]);
        fclose($input);
        proc_close($process);
        foreach ($late as $i) {
            $this->servers->servers[$i]->tell('DEL', $key);
        }
    }

    private function leftovers(): void
    {
        $began = nanoseconds();
        do {
            $left = $this->servers->leftovers();
            usleep(300_000);
        } while ($left && nanoseconds() - $began < self::FORGOTTEN * 1e9);
        foreach ($left as $what) {
            $this->journal->write('left', ['what' => $what, 'after' => round((nanoseconds() - $began) / 1e9)]);
        }
    }

    private function start(string $resource, string $what, bool $named = false): array
    {
        $config = ['class' => $this->class, 'servers' => $this->servers->specifications(false, $named), 'resource' => $resource, 'what' => $what];
        $environment = $named ? in_environment($this->servers->names()->environment()) : [];
        $process = proc_open(['setpriv', '--pdeathsig', 'KILL', ...$environment, PHP_BINARY, ...explode(' ', getenv('DLOCK_FAULTS_PHP')), dirname(__DIR__) . '/probe.php', json_encode($config)],
            [['pipe', 'r'], ['pipe', 'w'], ['file', "$this->dir/probe.err", 'a']], $pipes);
        return [$process, $pipes[0], $pipes[1]];
    }
}
