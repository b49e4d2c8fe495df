--TEST--
runtimes: a server that hangs holds nobody up but who asked it; connections that break while strands wait
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

Strands::install();

// ---- a server that hangs ----
foreach (['DistributedLock', 'Semaphore', 'Stock'] as $name) {
    $server = redis_private();
    $dsn = $server->dsn() . '?read_timeout=2';
    $ask = match ($name) {
        'DistributedLock' => fn () => (new DistributedLock($dsn))->acquire('x', 30),
        'Semaphore' => fn () => (new Dlock\Semaphore(3, $dsn))->acquire('x', 1, 30),
        'Stock' => fn () => (new Dlock\Stock($dsn))->reserve('x', 'buyer', 'order', 30),
    };
    thrown_by($ask); // connects
    $server->pause();
    $other = new DistributedLock(redis_server());
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
    Strands::run();
    same(Dlock\ConnectionException::class, get_debug_type($now->error), "$name: who asked the server that hangs");
    holds($now->sections >= 10, "$name: others go on meanwhile", $now->sections);
    $server->resume();
}

// ---- connecting ----
$socket = stream_socket_server('tcp://127.0.0.1:0'); // accepts nothing: says nothing
$lock = new DistributedLock('redis://' . stream_socket_get_name($socket, false) . '?connect_timeout=2&read_timeout=2');
$now = (object) ['ticks' => 0, 'over' => false];
Strands::spawn(function () use ($lock, $now) {
    same(Dlock\ConnectionException::class, get_debug_type(thrown_by(fn () => $lock->acquire('x', 1))), 'a server that says nothing');
    $now->over = true;
});
Strands::spawn(function () use ($now) {
    for (; !$now->over; $now->ticks++) {
        Strands::pause(0.01);
    }
});
Strands::run();
holds($now->ticks >= 10, 'others go on while one connects', $now->ticks);

// ---- the connection that notifies is killed, and the one that asks ----
$server = redis_private();
$raw = $server->raw();
foreach (['pubsub', 'normal'] as $type) {
    $lock = new DistributedLock($server->dsn());
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
