--TEST--
Databases: on a full disk a holder keeps its lock or is told of its loss, no other client acquires it, and all works again when there is room
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
skip_unless_mounts();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

use Dlock\AcquireTimeoutException;
use Dlock\ConnectionException;

$servers = ['pgsql' => new PrivatePostgres(disk_size: 120), 'mysql' => new PrivateMariaDb(disk_size: 200)];
foreach ($servers as $kind => $server) {
    $make = fn () => new DistributedLock($server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60'), ttl: 280, renew: false);
    [$locks, $other] = [$make(), $make()];
    $held = $locks->acquire('held', 0);
    $server->disk->fill();

    // ---- no room for one more lock, then for one more waiter; held locks are kept ----
    $full = "* at {$server->address()}: *: its disk is full";
    $many = [];
    $fill = function () use ($locks, &$many) {
        for ($i = 0; $i < 10_000; $i++) {
            $many[] = $locks->acquire(str_pad("$i", 180, '.'), 0);
        }
    };
    fails(ConnectionException::class, $full, $fill, "$kind: no room for a lock");
    holds($many !== [] && count($many) === count(array_unique(array_column($many, 'fencingToken'))), "$kind: until then there was", count($many));
    // Rows of dead waiters; the last ones are smaller than the row of any waiter that lives.
    [$table, $values] = $kind === 'pgsql' ? ['dlock.waiters', "(convert_to('Lock:held', 'UTF8'), ?, 'junk', '', 0, 0, '-infinity', convert_to(?, 'UTF8'))"]
        : ['dlock_waiters', "('Lock:held', ?, 'junk', 0, 0, ?)"];
    $insert = $server->pdo()->prepare("INSERT INTO $table VALUES $values");
    $ticket = 0;
    foreach ([190, 0] as $length) {
        fails(PDOException::class, '*', function () use ($insert, $length, &$ticket) {
            for ($i = 0; $i < 10_000; $i++) {
                $insert->execute([++$ticket, str_repeat('.', $length)]);
            }
        }, "$kind: no room for a row");
    }
    fails(ConnectionException::class, $full, fn () => $other->acquire('held', 60), "$kind: no room for a waiter");
    same(null, $other->tryAcquire('held'), "$kind: nobody else has what is held");
    $held->refresh(90);
    same([true, true, $held->token], [$held->isHeld(), $many[0]->release(), $server->token('Lock:held')], "$kind: its holder keeps it");

    // ---- there is room again ----
    $server->disk->makeRoom();
    $server->query("DELETE FROM $table WHERE token = 'junk'");
    $waiter = database_holder($server->dsn('guard=300&connect_timeout=60&read_timeout=60'), 'held', 100, 300);
    wait_for(fn () => $server->waiters('Lock:held') !== [], 60, "$kind: a waiter");
    same(true, $held->release(), "$kind: release() after it");
    holds($waiter->hear() > $held->fencingToken, "$kind: handed over");
    same(true, $locks->lock('room', 0), "$kind: one more lock");
    $waiter->say(null);
    same(true, $waiter->result(), "$kind: the waiter's release()");
}

// ---- PostgreSQL stops when it cannot write its log, as after a crash ----
$server = $servers['pgsql'];
$locks = new DistributedLock($server->dsn('guard=300&connect_timeout=60&read_timeout=60'), ttl: 100, renew: false);
$lease = $locks->acquire('held', 0);
$server->disk->fill();
thrown_by(fn () => $server->query("SELECT pg_logical_emit_message(true, '', repeat('x', 30000000))"));
$server->crash();
$server->disk->makeRoom();
$server->restart();
fails(AcquireTimeoutException::class, '*no lock is granted for another*', fn () => $locks->acquire('held', 0), 'a log that was full');
fails(Dlock\LeaseLostException::class, '*"held" was lost*', fn () => $lease->refresh(), 'its holder');
echo "done\n";
?>
--EXPECT--
done
