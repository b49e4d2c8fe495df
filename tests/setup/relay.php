<?php
/* A TCP relay in front of each target, with faults; see ../inc/relay.inc.
 *
 *   php relay.php [--from=ADDRESS] TARGET …
 *                               ADDRESS is the source address of its connections to targets. A target is "host:port",
 *                               or several, separated by commas: each connection goes to the next one.
 *                               Prints its own ports, one line, then obeys lines of JSON on its input:
 *
 * {"link": 0, "up": false, "down": true, "only": "inbox"}   which directions are forwarded ("only": only on
 *                                        subscriptions). The rest waits, and arrives late, as after a partition
 * {"link": 0, "delay": [0.01, 0.1]}      seconds by which each piece is delayed, between these
 * {"link": 0, "cut": true}               closes all connections
 * {"link": 0, "swallow": true}           from now on: the server receives a request and answers, the relay drops the
 *                                        answer and closes the connection; with a number, for that many connections
 * {"link": 0, "forsake": 1}              for that many requests: forwards one, and closes the connection at once
 * {"link": 0, "replace": ["a", "b"]}     writes b where the client wrote a; both have the same length
 * {"link": 0, "target": "host:port"}     where new connections go
 *
 * Each message resets everything that it does not name. Ends at the end of its input. */
declare(strict_types=1);

/** One direction of a connection. */
final class Flow
{
    /** @var list<array{float, string}> pieces with their due times */
    public array $pieces = [];
    public string $out = '';

    /** @param resource $from  @param resource $to */
    public function __construct(public $from, public $to, public readonly bool $up)
    {
    }
}

final class Connection
{
    public readonly Flow $up, $down;
    public bool $inbox = false;
    public bool $asked = false; // bytes went up since the fault began

    public function __construct(public readonly int $link, $client, $server)
    {
        $this->up = new Flow($client, $server, true);
        $this->down = new Flow($server, $client, false);
    }
}

final class Relay
{
    private const NORMAL = ['up' => true, 'down' => true, 'only' => null, 'delay' => null, 'cut' => false, 'swallow' => false, 'forsake' => 0, 'replace' => null];
    /** @var list<resource> */
    private array $listeners = [];
    /** @var list<array> */
    private array $modes = [];
    /** @var array<int, Connection> */
    private array $connections = [];
    private string $orders = '';

    /** @param list<string> $targets */
    public function __construct(private array $targets, private readonly ?string $from)
    {
        mt_srand(1);
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true, 'backlog' => 128]]);
        foreach ($targets as $target) {
            $this->listeners[] = stream_socket_server('tcp://127.0.0.1:0', $code, $message, context: $context)
                ?: throw new RuntimeException($message);
            $this->modes[] = self::NORMAL;
        }
        $ports = array_map(fn ($listener) => substr(strrchr(stream_socket_get_name($listener, false), ':'), 1), $this->listeners);
        echo implode(' ', $ports), "\n";
        stream_set_blocking(STDIN, false);
    }

    public function run(): void
    {
        while (true) {
            $read = [STDIN, ...$this->listeners];
            $write = [];
            $due = microtime(true) + 1;
            foreach ($this->connections as $connection) {
                foreach ([$connection->up, $connection->down] as $flow) {
                    if ($this->forwards($connection, $flow)) {
                        count($flow->pieces) > 100 || $read[] = $flow->from;
                        $flow->pieces && $due = min($due, $flow->pieces[0][0]);
                    }
                    $flow->out === '' || $write[] = $flow->to;
                }
            }
            $wait = max(0, $due - microtime(true));
            $except = null;
            if (@stream_select($read, $write, $except, (int) $wait, (int) (fmod($wait, 1) * 1e6)) === false) {
                continue;
            }
            $ready = [];
            foreach ($read as $stream) {
                $ready[(int) $stream] = true;
            }
            if (isset($ready[(int) STDIN]) && !$this->obey()) {
                return;
            }
            foreach ($this->listeners as $link => $listener) {
                isset($ready[(int) $listener]) && $this->accept($link);
            }
            foreach ($this->connections as $id => $connection) {
                $this->move($connection, $ready) || $this->close($id);
            }
        }
    }

    private function forwards(Connection $connection, Flow $flow): bool
    {
        $mode = $this->modes[$connection->link];
        return ($flow->up ? $mode['up'] : $mode['down']) || ($mode['only'] === 'inbox' && !$connection->inbox);
    }

    private function obey(): bool
    {
        $bytes = fread(STDIN, 65536);
        if ($bytes === '' || $bytes === false) {
            return !feof(STDIN);
        }
        $lines = explode("\n", $this->orders . $bytes);
        $this->orders = array_pop($lines);
        foreach ($lines as $line) {
            $order = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
            $link = $order['link'];
            $this->targets[$link] = $order['target'] ?? $this->targets[$link];
            $this->modes[$link] = array_intersect_key($order, self::NORMAL) + self::NORMAL;
            foreach ($this->connections as $id => $connection) {
                if ($connection->link === $link) {
                    $connection->asked = false;
                    $this->modes[$link]['cut'] && $this->close($id);
                }
            }
        }
        return true;
    }

    private function accept(int $link): void
    {
        $client = @stream_socket_accept($this->listeners[$link], 0);
        if (!$client) {
            return;
        }
        $context = stream_context_create(['socket' => ['tcp_nodelay' => true] + ($this->from === null ? [] : ['bindto' => "$this->from:0"])]);
        // Asynchronous: the packets may be lost, and the other links continue.
        $server = @stream_socket_client("tcp://{$this->next($link)}", $code, $message, 0.2, STREAM_CLIENT_CONNECT | STREAM_CLIENT_ASYNC_CONNECT, $context);
        if (!$server) {
            fclose($client);
            return;
        }
        foreach ([$client, $server] as $stream) {
            stream_set_blocking($stream, false);
            stream_set_read_buffer($stream, 0);
            stream_set_write_buffer($stream, 0);
        }
        $this->connections[] = new Connection($link, $client, $server);
    }

    private function next(int $link): string
    {
        $targets = explode(',', $this->targets[$link]);
        $this->targets[$link] = implode(',', [...array_slice($targets, 1), $targets[0]]);
        return $targets[0];
    }

    private function between(float $least, float $most): float
    {
        return $least + mt_rand() / mt_getrandmax() * ($most - $least);
    }

    /** False: the connection has ended. */
    private function move(Connection $connection, array $ready): bool
    {
        $mode = $this->modes[$connection->link];
        foreach ([$connection->up, $connection->down] as $flow) {
            if (!$this->forwards($connection, $flow)) {
                continue;
            }
            if (isset($ready[(int) $flow->from])) {
                $bytes = @fread($flow->from, 65536);
                if ($bytes === false || $bytes === '') {
                    $this->flush($flow, INF);
                    return !feof($flow->from);
                }
                if ($flow->up) {
                    $bytes = $mode['replace'] ? str_replace(...[...$mode['replace'], $bytes]) : $bytes;
                    $connection->asked = true;
                    $connection->inbox = $connection->inbox || str_contains($bytes, 'SUBSCRIBE');
                } elseif ($mode['swallow'] && $connection->asked) {
                    $this->modes[$connection->link]['swallow'] = $mode['swallow'] === true ? true : $mode['swallow'] - 1;
                    return false;
                }
                $flow->pieces[] = [microtime(true) + ($mode['delay'] ? $this->between(...$mode['delay']) : 0), $bytes];
            }
            if (!$this->flush($flow, microtime(true))) {
                return false;
            }
            if ($mode['forsake'] > 0 && $flow->up && $connection->asked) {
                $this->modes[$connection->link]['forsake']--;
                return false;
            }
        }
        return true;
    }

    private function flush(Flow $flow, float $now): bool
    {
        while ($flow->pieces && $flow->pieces[0][0] <= $now) {
            $flow->out .= array_shift($flow->pieces)[1];
        }
        if ($flow->out !== '') {
            $sent = @fwrite($flow->to, $flow->out);
            if ($sent === false) {
                return false;
            }
            $flow->out = substr($flow->out, $sent);
        }
        return true;
    }

    private function close(int $id): void
    {
        fclose($this->connections[$id]->up->from);
        fclose($this->connections[$id]->up->to);
        unset($this->connections[$id]);
    }
}

$targets = array_slice($argv, 1);
$from = str_starts_with($targets[0] ?? '', '--from=') ? substr(array_shift($targets), 7) : null;
(new Relay($targets, $from))->run();
