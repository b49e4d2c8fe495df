--TEST--
dlock-doctor reports a memcached that evicts, was flushed or restarted, is too old, or grants a lock twice for another reason
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';
require __DIR__ . '/../inc/memcached.inc';

/** A relay between the doctor and a server, which alters the answers line by line. @return string its address */
function altering(PrivateMemcached $server, array $patterns): string
{
    $listener = stream_socket_server('tcp://127.0.0.1:0');
    $child = fork_child(function () use ($listener, $server, $patterns) {
        $ways = []; // number of a stream => the stream to which it leads
        $streams = [$listener];
        while (true) {
            $ready = $streams;
            $none = null;
            stream_select($ready, $none, $none, null);
            foreach ($ready as $stream) {
                if ($stream === $listener) {
                    $client = stream_socket_accept($listener);
                    $up = stream_socket_client("tcp://{$server->address()}");
                    $ways[(int) $client] = [$up, []];
                    $ways[(int) $up] = [$client, $patterns];
                    array_push($streams, $client, $up);
                    continue;
                }
                stream_set_blocking($stream, false);
                $bytes = fread($stream, 65536);
                [$to, $replace] = $ways[(int) $stream];
                if ($bytes === '' || $bytes === false) {
                    $streams = array_filter($streams, fn ($one) => $one !== $stream && $one !== $to);
                    fclose($stream);
                    fclose($to);
                    break; // the other stream may be ready, too
                }
                stream_set_blocking($to, true);
                fwrite($to, preg_replace(array_keys($replace), array_values($replace), $bytes));
            }
        }
    });
    at_end($child->kill(...));
    return stream_socket_get_name($listener, false);
}

/**
 * A server with a megabyte of memory. slab_chunk_max is in bytes in old versions, and in kilobytes in newer ones, which
 * refuse more.
 */
function small_memcached(string ...$options): PrivateMemcached
{
    $options = ['-m', '1', '-I', '512k', ...$options];
    try {
        return new PrivateMemcached([...$options, '-o', 'slab_chunk_max=262144']);
    } catch (RuntimeException) {
        return new PrivateMemcached([...$options, '-o', 'slab_chunk_max=256']);
    }
}

const FORGETS = ['persistence' => 'note'];
$server = new PrivateMemcached();
$other = new PrivateMemcached();
$small = small_memcached();
$refusing = small_memcached('-M', '-F');
$by_socket = new SocketMemcached();

// The doctor reports a restart while clients may still believe in earlier leases.
$texts = finds(FORGETS + ['restarted' => 'warning'], [$server->dsn()], 'just started');
holds((bool) preg_match('/was started \d s ago, and leases last up to 10 s/', $texts['restarted'] ?? ''), 'just started', $texts);
foreach ([$server, $other, $small, $refusing] as $each) {
    $each->waitForUptime(13);
}
finds(FORGETS, [$server->dsn()], 'a good one');
finds(FORGETS + ['restarted' => 'warning'], [$server->dsn(), '--ttl=600'], 'long leases');
finds(FORGETS, [json_encode(['host' => '127.0.0.1', 'port' => $server->port, 'scheme' => 'memcached'])], 'the array form');
finds(FORGETS, ["memcached://{$by_socket->path()}"], 'by a socket');
$run = new DoctorRun(['--ignore=persistence', $server->dsn()]);
holds((bool) preg_match("/^All is well: DistributedLock on {$server->address()}, memcached [\d.]+, round trips from [\d.]+ m?s to [\d.]+ m?s\.\n$/", $run->output),
    'one line', $run->output);
same('0', $server->raw()->stats()['cmd_flush'], 'it flushes nothing');

// Lease times that memcached does not support.
foreach (['2', '3000000'] as $ttl) {
    $run = new DoctorRun([$server->dsn(), "--ttl=$ttl"]);
    same([3, ''], [$run->status, $run->output], "--ttl=$ttl");
    holds(str_contains($run->errors, 'Argument #3 ($ttl) must be between 4'), "--ttl=$ttl", $run->errors);
}
finds(FORGETS, [$server->dsn(), '--ttl=4'], 'the shortest leases', '-d dlock.restart_guard=0');
$run = new DoctorRun(['--class=RedLock', $server->dsn()]);
same(3, $run->status, 'RedLock');

// Out of reach, or another program.
$closed = closed_port();
$texts = finds(['unreachable' => 'problem'], ["memcached://127.0.0.1:$closed"], 'a closed port');
holds(str_contains($texts['unreachable'] ?? '', 'cannot be reached: Connection refused'), 'a closed port', $texts);
$texts = finds(['refuses' => 'problem'], ['memcached://' . redis_addresses()[0]], 'a Redis');
holds(str_contains($texts['refuses'] ?? '', 'Is it memcached?'), 'a Redis', $texts);
$other->pause();
$texts = finds(['unreachable' => 'problem'], [$other->dsn() . '?read_timeout=0.2'], 'a stopped one');
holds(str_contains($texts['unreachable'] ?? '', 'does not answer within 200 ms'), 'a stopped one', $texts);
$other->resume();
$way = relay($server->address(), 0.06);
finds(FORGETS + ['slow' => 'warning'], ["memcached://{$way->address()}"], 'a slow way');
$balancer = relay([$server->address(), $other->address()]);
finds(FORGETS + ['balancer' => 'problem'], ["memcached://{$balancer->address()}", '--ignore=trial'], 'two servers behind one address');

// Other answers of a server.
$altered = fn (array $patterns) => 'memcached://' . altering($server, $patterns);
$texts = finds(['version' => 'problem'], [$altered(['/^VERSION .*?(?=\r)/m' => 'VERSION 1.5.22'])], 'an old one');
holds(str_contains($texts['version'] ?? '', 'is memcached 1.5.22. It has no meta commands'), 'an old one', $texts);
$texts = finds(['refuses' => 'problem'], [$altered(['/^VERSION .*?(?=\r)/m' => 'CLIENT_ERROR unauthenticated'])], 'one with passwords');
holds(str_contains($texts['refuses'] ?? '', 'start it without -Y'), 'one with passwords', $texts);
finds(['unreachable' => 'problem'], [$altered(['/^STAT pid .*?(?=\r)/m' => 'what'])], 'nonsense');
finds(FORGETS + ['cas' => 'problem'], [$altered(['/^STAT cas_enabled yes/m' => 'STAT cas_enabled no'])], 'without CAS');
finds(FORGETS + ['open' => 'note'], [$altered(['/^STAT inter .*?(?=\r)/m' => 'STAT inter NULL'])], 'open to all');
finds(FORGETS + ['open' => 'note'], [$altered(['/^STAT inter .*?(?=\r)/m' => 'STAT inter 127.0.0.1,10.0.0.1'])], 'open to others');
finds(FORGETS, [$altered(['/^STAT inter .*?(?=\r)/m' => 'STAT inter 127.0.0.1,::1'])], 'open to nobody');

// Connections.
finds(FORGETS, [$server->dsn(), '--workers=512'], 'enough connections');
finds(FORGETS + ['maxclients' => 'warning'], [$server->dsn(), '--workers=300', '--hosts=2'], 'few connections');
finds(FORGETS + ['maxclients' => 'problem'], [$server->dsn(), '--workers=1100'], 'too few connections');
finds(FORGETS + ['maxclients' => 'warning'], [$altered(['/^STAT curr_connections .*?(?=\r)/m' => 'STAT curr_connections 1000'])], 'many connections');

// Flushes, if the server permits them.
$fill = function (PrivateMemcached $server, int $items) {
    $raw = $server->raw();
    for ($i = 0; $i < $items; $i++) {
        $answer = $raw->say("set filling:$i 0 0 1000", str_repeat('x', 1000));
    }
    return $answer;
};
$other->raw()->say('flush_all');
$texts = finds(FORGETS + ['flush' => 'warning'], [$other->dsn()], 'a flush');
holds(str_contains($texts['flush'] ?? '', 'was flushed 1 time since'), 'a flush', $texts);
$refusing->raw()->say('flush_all');
finds(FORGETS, [$refusing->dsn()], 'a flush that was refused');

// Memory: first nearly full, then full.
same('STORED', $fill($small, 860), 'filling');
$texts = finds(FORGETS + ['memory' => 'warning'], [$small->dsn()], 'nearly full');
holds((bool) preg_match('/uses 8\d %/', $texts['memory'] ?? '') && str_contains($texts['memory'], 'When it is full, it evicts'), 'nearly full', $texts);
same('STORED', $fill($small, 3000), 'filling more');
$texts = finds(FORGETS + ['eviction' => 'problem'], [$small->dsn()], 'evictions');
holds((bool) preg_match('/\d{3,} items evicted since/', $texts['eviction'] ?? ''), 'evictions', $texts);
same('SERVER_ERROR out of memory storing object', $fill($refusing, 3000), 'filling what does not evict');
$texts = finds(FORGETS + ['memory' => 'warning'], [$refusing->dsn(), '--ignore=trial'], 'full, without evictions');
holds(str_contains($texts['memory'] ?? '', 'When it is full, no lock can be acquired'), 'full, without evictions', $texts);

// memory:// has no server.
$texts = finds(['one-process' => 'note'], ['memory://tests'], 'memory');
holds(str_contains($texts['one-process'] ?? '', 'memory://tests is a table in this process: there is no server to look at'), 'memory', $texts);
$run = new DoctorRun(['memory://', '--ignore=one-process']);
same("All is well: DistributedLock on memory://.\n", $run->output, 'memory, in one line');
echo "done\n";
?>
--EXPECT--
done
