<?php
/* The servers of a run, each behind a link of the proxy, and the faults that they can have. */
declare(strict_types=1);

require_once __DIR__ . '/books.php';
require_once __DIR__ . '/../../inc/process.inc';
require_once __DIR__ . '/../../inc/redis_raw.inc';
require_once __DIR__ . '/../../inc/relay.inc';
require_once __DIR__ . '/../../inc/zk_raw.inc';

/** An address of this run only: no other server uses the port of a server that is down, and answers in its place. */
function private_host(): string
{
    static $host = null;
    return $host ??= sprintf('127.%d.%d.%d', random_int(1, 254), random_int(0, 255), random_int(1, 254));
}

/** Sets the wall clock from the file; see tests/setup/clock.c. @return array<string, string> environment */
function wrong_clock(string $file): array
{
    $library = getenv('DLOCK_FAULTS_CLOCK');
    return $library ? ['LD_PRELOAD' => $library, 'WALL_CLOCK' => $file] : [];
}

/**
 * The words that run a command in these environments, with all libraries that they preload.
 * @param array<string, string> ...$environments
 * @return list<string>
 */
function in_environment(array ...$environments): array
{
    $variables = array_merge(...$environments);
    if ($variables === []) {
        return [];
    }
    $variables['LD_PRELOAD'] = implode(':', array_column($environments, 'LD_PRELOAD'));
    return ['env', ...array_map(fn (string $name, string $value) => "$name=$value", array_keys($variables), $variables)];
}

/**
 * Names that clients may use for servers instead of addresses, and what a look-up does; see tests/setup/resolver.c. A
 * server has one name for clients that use the proxy, and one for clients that bypass it.
 */
final class Names
{
    /**
     * @var array<int, array{float, bool}> by server: how many seconds a look-up takes, and whether the name is known
     * then
     */
    private array $troubles = [];

    public function __construct(private readonly string $file, private readonly int $count)
    {
        $this->write();
    }

    /** "host:port" with the server's name as the host. */
    public static function instead(string $address, int $server, bool $straight): string
    {
        return ($straight ? "straight$server.test" : "link$server.test") . strrchr($address, ':');
    }

    /** For processes that know the names. @return array<string, string> */
    public function environment(): array
    {
        return ['LD_PRELOAD' => getenv('DLOCK_FAULTS_RESOLVER'), 'RESOLVER' => $this->file];
    }

    public function trouble(int $server, float $seconds, bool $known): void
    {
        $this->troubles[$server] = [$seconds, $known];
        $this->write();
    }

    /** Look-ups that hang continue at once. */
    public function end(int $server): void
    {
        unset($this->troubles[$server]);
        $this->write();
    }

    private function write(): void
    {
        $lines = '';
        for ($server = 0; $server < $this->count; $server++) {
            [$seconds, $known] = $this->troubles[$server] ?? [0.0, true];
            $lines .= sprintf("link$server.test %.3f %s\nstraight$server.test %.3f %s\n", $seconds, $known ? '127.0.0.1' : '-', $seconds, $known ? private_host() : '-');
        }
        file_put_contents("$this->file.new", $lines);
        rename("$this->file.new", $this->file); // clients may read it at any time
    }
}

/** Writes in place, because processes may have mapped the file. */
function write_clock(string $file, float $offset): void
{
    $stream = fopen($file, 'cb');
    fwrite($stream, pack('d', $offset));
    fclose($stream);
}

class RedisProcess
{
    /** @var resource|null */
    private $process = null;
    public int $pid = 0;
    public int $port = 0;
    public readonly string $host;

    /**
     * @param list<string> $config
     * @param bool $clock it may have a wall clock of its own
     * @param ?string $host an address that no other server of this run has
     * @param float $offset seconds by which its wall clock is wrong
     */
    public function __construct(public readonly string $dir, private readonly array $config = [], private readonly bool $clock = false, ?string $host = null,
        private float $offset = 0)
    {
        $this->host = $host ?? private_host();
        mkdir($dir, 0700, true);
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
        return "$this->host:$this->port";
    }

    public function start(): void
    {
        // Written only once: the servers themselves add who follows whom, and what Sentinels know.
        if (!preg_match("/^port $this->port$/m", (string) @file_get_contents("$this->dir/redis.conf"))) {
            file_put_contents("$this->dir/redis.conf", implode("\n", ["bind $this->host", "port $this->port", "dir $this->dir", 'protected-mode no',
                'jemalloc-bg-thread no', // it would wait by the wall clock for a time that has passed
                ...$this->usual(), ...$this->config, '']));
        }
        $this->setClock();
        $clock = $this->clock ? wrong_clock("$this->dir/clock") : [];
        $this->process = start_server([...in_environment($clock), 'redis-server', "$this->dir/redis.conf", ...$this->options()], "$this->dir/log");
        $this->pid = proc_get_status($this->process)['pid'];
    }

    /** @return list<string> lines of the configuration */
    protected function usual(): array
    {
        return ['save ""', 'appendonly yes', 'appendfsync always', 'enable-debug-command local', 'auto-aof-rewrite-percentage 0'];
    }

    /** @return list<string> of the command line */
    protected function options(): array
    {
        return [];
    }

    /** What it logs once it serves. */
    protected function readiness(): string
    {
        return 'Ready to accept connections';
    }

    /** Sets its wall clock back, for the rest of the run. (Not forward: Redis expires leases by it.) */
    public function setClockBack(float $seconds): void
    {
        $this->offset -= $seconds;
        $this->setClock();
    }

    private function setClock(): void
    {
        write_clock("$this->dir/clock", $this->offset);
    }

    public function kill(): void
    {
        if ($this->process) {
            posix_kill($this->pid, SIGKILL);
            proc_close($this->process);
            $this->process = null;
        }
    }

    /**
     * Becomes a replica, with all the data of the master. Null: of a master that does not exist, so that it keeps its
     * data.
     */
    public function follow(?self $master): void
    {
        $this->raw()->cmd('REPLICAOF', $master?->host ?? '127.0.0.1', (string) ($master?->port ?? 1));
        $master && wait_for(fn () => str_contains($this->raw()->cmd('INFO', 'replication'), 'master_link_status:up'), 30, 'the replica');
    }

    public function forget(): void
    {
        exec('rm -rf ' . escapeshellarg("$this->dir/appendonlydir"));
    }

    public function runs(): bool
    {
        return $this->process !== null && proc_get_status($this->process)['running'];
    }

    /** Throws if the server has ended by itself. */
    public function check(): void
    {
        $this->process === null || $this->runs() || throw new RuntimeException('redis-server ended: ' . file_get_contents("$this->dir/log"));
    }

    public function raw(float $timeout = 5): RedisRaw
    {
        return new RedisRaw($this->address(), null, 'default', $timeout);
    }

    /** Sends a command to a server that may not answer now. */
    public function tell(string|int ...$words): void
    {
        try {
            $this->raw(0.3)->cmd(...$words);
        } catch (RuntimeException) {
        }
    }

    public function waitUntilReady(): void
    {
        wait_for(function () {
            $this->check();
            return str_contains((string) file_get_contents("$this->dir/log"), $this->readiness());
        }, 30, 'redis-server');
    }
}

/** What faults and the checks after them need to know about the servers of a class. */
interface Servers
{
    public function count(): int;

    public function links(): Relays;

    /**
     * @return list<string> the servers as a client passes them to its class: by the proxy, or straight; with names as
     * hosts, or addresses
     */
    public function specifications(bool $straight = false, bool $named = false): array;

    /** Null: the servers have no names. */
    public function names(): ?Names;

    public function port(int $server): int;

    public function signal(int $server, int $signal): void;

    public function kill(int $server): void;

    public function start(int $server): void;

    /** Throws if a server has ended that no fault killed: later answers to clients were not its own. */
    public function check(): void;

    /** Returns once all servers run and serve. */
    public function waitUntilReady(): void;

    /** @return list<string> what is left on the servers and should not be */
    public function leftovers(): array;

    public function stop(): void;
}

/** For servers that are processes of this run. */
trait ServerProcesses
{
    public function count(): int
    {
        return count($this->servers);
    }

    public function port(int $server): int
    {
        return $this->servers[$server]->port;
    }

    public function signal(int $server, int $signal): void
    {
        $this->servers[$server]->runs() && posix_kill($this->servers[$server]->pid, $signal);
    }

    public function kill(int $server): void
    {
        $this->servers[$server]->kill();
    }

    public function start(int $server): void
    {
        $this->servers[$server]->runs() || $this->servers[$server]->start();
    }

    public function check(): void
    {
        foreach ($this->servers as $server) {
            $server->check();
        }
    }
}

final class RedisServers implements Servers
{
    use ServerProcesses;

    /** @var list<RedisProcess> */
    public readonly array $servers;
    private readonly Relays $links;
    private readonly Names $names;
    /** The number of a pair's master. */
    private int $master = 0;

    /**
     * @param bool $pair clients know one address; behind it are a master and its replica, which takes over by
     * failOver()
     * @param ?int $permits how many each resource has; 0: stocks; null: the server has locks
     */
    public function __construct(int $count, string $dir, private readonly bool $pair = false, public readonly ?int $permits = null)
    {
        $servers = [];
        for ($i = 0; $i < $count; $i++) {
            $servers[] = new RedisProcess("$dir/redis$i", [], true);
        }
        $this->servers = $servers;
        $this->links = new Relays(array_map(fn ($server) => $server->address(), $pair ? [$servers[0]] : $servers), "$dir/relay.log");
        $this->names = new Names("$dir/names", count($this->links->addresses));
        $pair && $this->servers[1]->follow($this->servers[0]);
    }

    /**
     * The replica loses its master, which continues, and later takes its place. @return callable what does the latter
     */
    public function failOver(): callable
    {
        $old = $this->servers[$this->master];
        $new = $this->servers[$this->master = 1 - $this->master];
        $new->follow(null);
        return function () use ($old, $new) {
            $old->kill();
            $old->forget();
            $new->raw()->cmd('REPLICAOF', 'NO', 'ONE');
            $this->links->order(0, ['target' => $new->address(), 'cut' => true]);
            $old->start();
            $old->waitUntilReady();
            $old->follow($new);
        };
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
        $straight = $straight && !$this->pair;
        $addresses = $straight ? array_map(fn ($server) => $server->address(), $this->servers) : $this->links->addresses;
        if ($named) {
            $addresses = array_map(fn (string $address, int $server) => Names::instead($address, $server, $straight), $addresses, array_keys($addresses));
        }
        return array_map(fn (string $address) => "redis://$address?connect_timeout=0.3&read_timeout=0.5", $addresses);
    }

    public function waitUntilReady(): void
    {
        foreach ($this->servers as $server) {
            $server->waitUntilReady();
            wait_for(fn () => $server->raw()->cmd('PING') === 'PONG', 30, 'Redis to answer');
        }
    }

    public function leftovers(): array
    {
        $left = [];
        foreach ($this->servers as $i => $server) {
            foreach ($server->raw()->cmd('KEYS', '*') as $key) {
                $key === 'dlock:fence' || array_push($left, ...$this->permits === null ? ["server $i: $key"] : Books::left($server->raw(), $key, $this->permits));
            }
        }
        return $left;
    }

    public function stop(): void
    {
        foreach ($this->servers as $server) {
            $server->kill();
        }
    }
}

/** Three ZooKeepers, which tests/setup/servers.sh starts. */
final class ZooKeeperServers implements Servers
{
    private const SCRIPT = __DIR__ . '/../../setup/servers.sh';
    private readonly Relays $links;
    /** @var list<string> */
    private readonly array $members;

    public function __construct(private readonly string $dir)
    {
        $this->run('ensemble-start', (string) getmypid());
        $this->members = array_map(fn (string $line) => explode(' ', $line)[1], file("$dir/ensemble", FILE_IGNORE_NEW_LINES));
        $this->links = new Relays($this->members, "$dir/relay.log");
    }

    public function count(): int
    {
        return count($this->members);
    }

    public function links(): Relays
    {
        return $this->links;
    }

    public function names(): ?Names
    {
        return null;
    }

    public function specifications(bool $straight = false, bool $named = false): array
    {
        return $straight ? $this->members : $this->links->addresses;
    }

    public function port(int $server): int
    {
        return (int) explode(':', $this->members[$server])[1];
    }

    /** @return list<int> ports at which the other members find it */
    public function peerPorts(int $server): array
    {
        $n = $server + 1;
        preg_match("/^server\\.$n=[^:]+:(\d+):(\d+)/m", (string) file_get_contents("$this->dir/zk$n/zoo.cfg"), $found);
        return [(int) $found[1], (int) $found[2]];
    }

    public function signal(int $server, int $signal): void
    {
        $pid = $this->pid($server);
        $pid && posix_kill($pid, $signal);
    }

    public function kill(int $server): void
    {
        $this->signal($server, SIGKILL);
    }

    /** Does not wait, because a JVM takes a while. */
    public function start(int $server): void
    {
        exec(escapeshellarg(self::SCRIPT) . ' ensemble-restart ' . escapeshellarg($this->dir) . ' ' . ($server + 1)
            . ' > /dev/null 2>&1 < /dev/null &');
    }

    /** Checks nothing: the checks after the faults notice a server that did not start. */
    public function check(): void
    {
    }

    /** The number of the leader; null: no server says that it leads. */
    public function leader(): ?int
    {
        foreach (array_keys($this->members) as $server) {
            if (str_contains($this->ask($server, 'srvr'), 'Mode: leader')) {
                return $server;
            }
        }
        return null;
    }

    public function waitUntilReady(): void
    {
        wait_for(function () {
            usleep(200_000);
            $modes = array_map(fn (int $server) => preg_match('/Mode: (\w+)/', $this->ask($server, 'srvr')), array_keys($this->members));
            return array_sum($modes) === count($this->members);
        }, 90, 'the ensemble');
    }

    public function leftovers(): array
    {
        $left = [];
        $zk = new ZkRaw(implode(',', $this->members));
        $zk->sync('/');
        foreach ($zk->exists('/locks') ? $zk->getChildren('/locks') : [] as $resource) {
            $left[] = "node $resource"; // a container, which the servers remove once it is empty
            try {
                foreach ($zk->getChildren("/locks/$resource") as $node) {
                    $left[] = "node $resource/$node";
                }
            } catch (ZkError $e) {
                $e->getCode() === ZkError::NO_NODE || throw $e; // it has just been removed
            }
        }
        $own = $zk->sessionId;
        $leader = $this->leader();
        if ($leader === null) {
            return ['no leader'];
        }
        preg_match('/Sessions with Ephemerals \((\d+)\)/', $this->ask($leader, 'dump'), $found);
        ($found[1] ?? '?') === '0' || $left[] = ($found[1] ?? '?') . ' sessions with ephemeral nodes';
        preg_match_all('/^\s+0x([0-9a-f]+)/m', strstr($this->ask($leader, 'dump'), 'Sessions with', true) ?: '', $sessions);
        foreach (array_unique($sessions[1]) as $session) {
            hexdec($session) === $own || $left[] = "session $session";
        }
        $zk->close();
        return $left;
    }

    private function pid(int $server): ?int
    {
        $pid = (int) @file_get_contents("$this->dir/zk" . ($server + 1) . '/pid');
        return $pid > 0 && str_contains((string) @file_get_contents("/proc/$pid/cmdline"), "$this->dir/zk" . ($server + 1)) ? $pid : null;
    }

    private function ask(int $server, string $word): string
    {
        $stream = @stream_socket_client("tcp://{$this->members[$server]}", $code, $message, 0.3);
        if (!$stream) {
            return '';
        }
        stream_set_timeout($stream, 0, 300_000);
        @fwrite($stream, $word);
        return (string) @stream_get_contents($stream);
    }

    private function run(string ...$words): void
    {
        exec(implode(' ', array_map('escapeshellarg', [self::SCRIPT, $words[0], $this->dir, ...array_slice($words, 1)])) . ' 2>&1', $output, $code);
        $code === 0 || throw new RuntimeException("servers.sh $words[0]: " . implode("\n", $output));
    }

    public function stop(): void
    {
        $this->run('stop');
    }
}
