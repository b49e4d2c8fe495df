--TEST--
Runtimes: a server that hangs delays only the strand that asked it; connections that break while strands wait
--EXTENSIONS--
pdo
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/database.inc';
require_once __DIR__ . '/../inc/relay.inc';

Strands::install();
$database = new PrivatePostgres();

// ---- a server that hangs ----
foreach (['DistributedLock', 'Semaphore', 'Stock', 'RedLock', 'memcached', 'PostgreSQL'] as $name) {
    $server = match ($name) {
        'memcached' => new PrivateMemcached(),
        'PostgreSQL' => relay($database->address()),
        default => redis_private(),
    };
    $dsn = $name === 'PostgreSQL' ? str_replace($database->address(), $server->address(), $database->dsn('create=1&read_timeout=60'))
        : $server->dsn() . '?read_timeout=60';
    $ask = match ($name) {
        'RedLock' => fn () => (new RedLock([$dsn]))->acquire('x', 30),
        'DistributedLock', 'memcached', 'PostgreSQL' => fn () => (new DistributedLock($dsn))->acquire('x', 30),
        'Semaphore' => fn () => (new Dlock\Semaphore(3, $dsn))->acquire('x', 1, 30),
        'Stock' => fn () => (new Dlock\Stock($dsn))->reserve('x', 'buyer', 'order', 30),
    };
    thrown_by($ask); // connects
    $server instanceof Relays ? $server->cut() : $server->pause();
    $other = new DistributedLock(redis_server(), ttl: 100);
    $now = (object) ['sections' => 0, 'error' => null, 'over' => false];
    $resource = unique($name);
    Strands::spawn(function () use ($ask, $now) {
        $now->error = thrown_by($ask);
        $now->over = true;
    });
    for ($i = 0; $i < 2; $i++) {
        Strands::spawn(function () use ($other, $resource, $now) {
            while (!$now->over) {
                $other->synchronized($resource, fn () => Strands::pause(0.005), 60);
                $now->sections++;
            }
        });
    }
    Strands::spawn(function () use ($server, $now) { // the server hangs until others have gone on
        Strands::until(fn () => $now->sections >= 10);
        $server->kill();
    });
    Strands::run();
    same($name === 'RedLock' ? Dlock\QuorumException::class : Dlock\ConnectionException::class, get_debug_type($now->error), "$name: who asked the server that hangs");
    holds($now->sections >= 10, "$name: others go on meanwhile", $now->sections);
}

// ---- connecting ----
$socket = stream_socket_server('tcp://127.0.0.1:0'); // accepts no connection and answers nothing
$lock = new DistributedLock('redis://' . stream_socket_get_name($socket, false) . '?connect_timeout=60&read_timeout=60');
$now = (object) ['ticks' => 0, 'over' => false];
Strands::spawn(function () use ($lock, $now) {
    same(Dlock\ConnectionException::class, get_debug_type(thrown_by(fn () => $lock->acquire('x', 1))), 'a server that says nothing');
    $now->over = true;
});
Strands::spawn(function () use ($now, $socket) {
    for (; !$now->over; $now->ticks++) {
        Strands::pause(0.01);
        $now->ticks === 10 && fclose($socket);
    }
});
Strands::run();
holds($now->ticks > 10, 'others go on while one connects', $now->ticks);

// ---- the connection that notifies is killed, or the one that asks ----
$server = redis_private();
$raw = $server->raw();
foreach (['pubsub', 'normal'] as $type) {
    $lock = new DistributedLock($server->dsn(), ttl: 100);
    $had = new ArrayObject();
    for ($round = 0; $round < 5; $round++) {
        $lease = $lock->acquire('x', 0);
        for ($i = 0; $i < 5; $i++) {
            Strands::spawn(function () use ($lock, $had) {
                $lock->synchronized('x', fn () => $had[] = Strands::pause(0.001), 60);
            });
        }
        Strands::run(fn () => $raw->cmd('ZCARD', 'dlock:queue:{Lock:x}') === 5);
        $raw->cmd('CLIENT', 'KILL', 'TYPE', $type, 'SKIPME', 'yes');
        $lease->release();
        Strands::run();
    }
    same(25, count($had), "$type: all have it");
    same(0, $raw->cmd('EXISTS', 'Lock:x', 'dlock:queue:{Lock:x}', 'dlock:waiters:{Lock:x}'), "$type: nothing is left");
}
echo "done\n";
?>
--EXPECT--
done
