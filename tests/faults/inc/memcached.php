<?php
/* The memcached of a run. */
declare(strict_types=1);

require_once __DIR__ . '/servers.php';
require_once __DIR__ . '/../../inc/memcached_raw.inc';

final class MemcachedProcess
{
    /** @var resource|null */
    private $process = null;
    public int $pid = 0;
    public int $port = 0;

    public function __construct(private readonly string $log)
    {
        for ($i = 0; $i < 6; $i++) {
            $this->port = private_port();
            $this->start();
            try {
                $this->waitUntilReady();
                return;
            } catch (RuntimeException $e) {
                $this->kill();
            }
        }
        throw $e;
    }

    public function address(): string
    {
        return private_host() . ":$this->port";
    }

    public function start(): void
    {
        $this->process = start_server([...memcached_command(), '-l', private_host(), '-p', (string) $this->port], $this->log);
        $this->pid = proc_get_status($this->process)['pid'];
    }

    public function kill(): void
    {
        if ($this->process) {
            posix_kill($this->pid, SIGKILL);
            proc_close($this->process);
            $this->process = null;
        }
    }

    /** memcached keeps no data anyway. */
    public function forget(): void
    {
    }

    public function runs(): bool
    {
        return $this->process !== null && proc_get_status($this->process)['running'];
    }

    /** Throws if memcached has ended by itself. */
    public function check(): void
    {
        $this->process === null || $this->runs() || throw new RuntimeException('memcached ended: ' . file_get_contents($this->log));
    }

    public function raw(): MemcachedRaw
    {
        return new MemcachedRaw($this->address(), 5);
    }

    public function waitUntilReady(): void
    {
        wait_for(function () {
            $this->check();
            return memcached_is($this->pid, $this->address());
        }, 30, 'memcached');
    }
}

/** One memcached, which forgets all locks when it restarts. */
final class MemcachedServers implements Servers
{
    use ServerProcesses;

    /** @var list<MemcachedProcess> */
    public readonly array $servers;
    private readonly Relays $links;
    private readonly Names $names;

    public function __construct(string $dir)
    {
        $this->servers = [new MemcachedProcess("$dir/memcached.log")];
        $this->links = new Relays([$this->servers[0]->address()], "$dir/relay.log");
        $this->names = new Names("$dir/names", 1);
    }

    public function links(): Relays
    {
        return $this->links;
    }

    public function names(): Names
    {
        return $this->names;
    }

    public function specifications(bool $straight = false, bool $named = false): array
    {
        $address = $straight ? $this->servers[0]->address() : $this->links->address();
        $address = $named ? Names::instead($address, 0, $straight) : $address;
        return ["memcached://$address?connect_timeout=0.3&read_timeout=0.5"];
    }

    public function waitUntilReady(): void
    {
        $this->servers[0]->waitUntilReady();
    }

    public function leftovers(): array
    {
        return array_map(fn (string $key) => "key $key", array_values(array_diff($this->servers[0]->raw()->keys(), ['dlock:fence', 'dlock:clock'])));
    }

    public function stop(): void
    {
        $this->servers[0]->kill();
    }
}
