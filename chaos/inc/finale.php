<?php
declare(strict_types=1);

require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/setting.php';

/** What is looked at when the faults are over. */
final class Finale
{
    /** Redis forgets a queue whose waiters all died after this. */
    private const FORGOTTEN = 75;

    public function __construct(private readonly string $class, private readonly Servers $servers, private readonly Journal $journal, private readonly string $dir)
    {
    }

    public function run(): void
    {
        $this->probe('free');
        $this->probe('after a dead holder');
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
            // A session that has expired is noticed with a tick of the leader.
            $this->journal->write('probe', ['r' => $resource, 'what' => $what,
                'limit' => max(Setting::LONGEST_TTL, Setting::SESSION_TIMEOUT, Setting::LEASE_OVER) + Setting::MARGIN] + $entry);
            fclose($input);
            proc_close($process);
        }
    }

    /** A lock that was taken while two servers were late, and released before they heard of it, must not appear there later. */
    private function releaseOverLateLinks(): void
    {
        $late = [3, 4];
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
            // Until the late acquire has been there, it cannot be seen whether the release comes after it.
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

    private function start(string $resource, string $what): array
    {
        $config = ['class' => $this->class, 'servers' => $this->servers->specifications(), 'resource' => $resource, 'what' => $what];
        $process = proc_open(['setpriv', '--pdeathsig', 'KILL', PHP_BINARY, ...explode(' ', getenv('DLOCK_CHAOS_PHP')), dirname(__DIR__) . '/probe.php', json_encode($config)],
            [['pipe', 'r'], ['pipe', 'w'], ['file', "$this->dir/probe.err", 'a']], $pipes);
        return [$process, $pipes[0], $pipes[1]];
    }
}
