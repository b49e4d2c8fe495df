<?php
declare(strict_types=1);

require_once __DIR__ . '/servers.php';

/** The client processes. A client that ends is replaced. Each leads a process group with its children. */
final class Crew
{
    /** @var array<int, array{process: resource, pid: int, name: string, killed: bool, status?: array}> by place */
    private array $clients = [];
    /** @var array<int, int> by place: how many clients it has had */
    private array $incarnations = [];
    private Chance $chance;

    /** @param bool $wrongClocks half of the clients have wrong clocks */
    public function __construct(private readonly int $size, private readonly array $config, private readonly Journal $journal, private readonly Servers $servers,
        private readonly bool $wrongClocks = true)
    {
        $this->chance = new Chance($config['seed'], 'crew');
    }

    public function fill(): void
    {
        for ($place = 0; $place < $this->size; $place++) {
            isset($this->clients[$place]) || $this->hire($place);
        }
    }

    /** Logs which clients have ended, and how. */
    public function reap(): void
    {
        foreach ($this->clients as $place => $client) {
            $status = $this->status($place);
            if (!$status['running']) {
                proc_close($client['process']);
                unset($this->clients[$place]);
                $this->journal->write('ended', ['t' => nanoseconds(), 'name' => $client['name'], 'signal' => $status['signaled'] ? $status['termsig'] : 0,
                    'code' => $status['exitcode'], 'killed' => $client['killed']]);
            }
        }
    }

    public function size(): int
    {
        return count($this->clients);
    }

    /** The name of the client at the place; null: none. */
    public function name(int $place): ?string
    {
        return $this->clients[$place]['name'] ?? null;
    }

    public function signal(int $place, int $signal, bool $group = false): void
    {
        if (isset($this->clients[$place]) && $this->status($place)['running']) {
            $this->clients[$place]['killed'] = $this->clients[$place]['killed'] || $signal === SIGKILL;
            posix_kill($group ? -$this->clients[$place]['pid'] : $this->clients[$place]['pid'], $signal);
        }
    }

    /** PHP reports only once how a process ended. */
    private function status(int $place): array
    {
        $client = &$this->clients[$place];
        return $client['status'] ?? (($status = proc_get_status($client['process']))['running'] ? $status : $client['status'] = $status);
    }

    /** Ends all clients that still run: by SIGKILL at the places in $killed, by SIGTERM at all other places. */
    public function dismiss(array $killed): void
    {
        foreach (array_keys($this->clients) as $place) {
            $this->signal($place, SIGCONT, true);
            $this->signal($place, in_array($place, $killed, true) ? SIGKILL : SIGTERM, true);
        }
    }

    /** Sends SIGTERM again to all clients that still run. PHP loses a signal that arrives during a call that throws. */
    public function remind(): void
    {
        foreach ($this->clients as $place => $client) {
            $this->journal->write('reminded', ['t' => nanoseconds(), 'name' => $client['name']]);
            $this->signal($place, SIGTERM);
        }
    }

    public function killAll(): void
    {
        foreach (array_keys($this->clients) as $place) {
            $this->signal($place, SIGKILL, true);
        }
    }

    /**
     * Kills all clients and waits for their end. It repeats the signal, because a new client may not lead its group
     * yet.
     */
    public function end(): void
    {
        wait_for(function () {
            $this->killAll();
            $this->reap();
            return $this->size() === 0;
        });
    }

    private function hire(int $place): void
    {
        $incarnation = $this->incarnations[$place] = ($this->incarnations[$place] ?? -1) + 1;
        $name = "c$place-$incarnation";
        $kind = $place === 0 ? 'steady' : ($place % 2 ? 'busy' : 'sleepy');
        // Most clients use the proxy. The rest meet only the servers' own faults. Half of all know servers by name.
        $straight = $place > 0 && $this->chance->happens(0.2);
        $named = $this->chance->happens(0.5) && $this->servers->names() !== null;
        $clock = $this->chance->fraction();
        $clock = !$this->wrongClocks || Setting::isOnZooKeeper($this->config['class']) || $place === 0 || $clock < 0.5 ? 0.0 : ($clock - 0.75) * 2880;
        $config = ['name' => $name, 'kind' => $kind, 'servers' => $this->servers->specifications($straight, $named)] + $this->config;
        $process = start_client($config, "{$this->config['dir']}/$name.err", $clock, $named ? $this->servers->names() : null,
            Setting::kind($this->config['class']) === 'Stock' ? 'buyer.php' : 'client.php');
        $this->clients[$place] = ['process' => $process, 'pid' => proc_get_status($process)['pid'], 'name' => $name, 'killed' => false];
    }
}

/**
 * @param float $clock seconds by which its wall clock is wrong
 * @return resource
 */
function start_client(array $config, string $log, float $clock = 0.0, ?Names $names = null, string $script = 'client.php')
{
    $clock === 0.0 || write_clock("$log.clock", $clock);
    $environment = in_environment($clock === 0.0 ? [] : wrong_clock("$log.clock"), $names?->environment() ?? []);
    return proc_open(['setpriv', '--pdeathsig', 'KILL', 'setsid', ...$environment, PHP_BINARY, ...explode(' ', getenv('DLOCK_FAULTS_PHP')),
        dirname(__DIR__) . "/$script", json_encode($config)], [['file', '/dev/null', 'r'], ['file', $log, 'a'], ['redirect', 1]], $pipes)
        ?: throw new RuntimeException('cannot start a client');
}
