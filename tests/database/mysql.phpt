--TEST--
MariaDB: messages name what is missing or refused, never a password; a crash keeps leases, another server begins with the guard; a waiter that the owner may not wake looks by itself
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

use Dlock\AcquireTimeoutException;
use Dlock\ConnectionException;

const SECRET = 's3cr3t-pass';

$server = new PrivateMariaDb();
$at = 'MySQL at ' . $server->address();
$user = 'app:' . SECRET;
$try = fn (string $options = '', string $login = '') => (new DistributedLock($server->dsn($options, $login ?: $user)))->lock('r', 0);
$shown = [];
$fails = function (string $message, callable $do, string $what) use (&$shown) {
    $shown[] = (string) thrown_by($do);
    fails(ConnectionException::class, $message, $do, $what);
};

// ---- login, tables, rights ----
$fails("$at: *Access denied*check user and password*", fn () => $try('', 'app:wrong' . SECRET), 'no such user');
$server->query("CREATE USER app@'%' IDENTIFIED BY '" . SECRET . "'");
$server->query("GRANT USAGE ON shop.* TO app@'%'");
$fails("$at: *", fn () => $try(), 'no right to the database');
$server->query("GRANT EXECUTE ON shop.* TO app@'%'");
$fails("$at: *does not exist: run mysql.sql there, or add create=1 to the address", fn () => $try(), 'no procedures');
$fails("$at: *denied*", fn () => $try('create=1'), 'no right to create them');
same([true, true, true], fork_run(3, function () use ($server) {
    $lease = (new DistributedLock($server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60'), ttl: 100))->acquire('r', 60);
    $lease->refresh(50);
    return $lease->release();
}, 'exit'), 'created by several at once');
// A creation that was cut short: the next session goes on with it.
preg_match_all('/^CREATE PROCEDURE IF NOT EXISTS (\w+)/m', file_get_contents(dirname(__DIR__, 2) . '/src/database/sql/mysql.sql'), $procedures);
foreach (['dlock_acquire_1', $procedures[1][count($procedures[1]) - 2]] as $number => $last) {
    foreach (array_slice($procedures[1], 1 + array_search($last, $procedures[1], true)) as $name) {
        $server->query("DROP PROCEDURE $name");
    }
    $timeout = 62 + $number; // a session of its own
    same(true, (new DistributedLock($server->dsn("create=1&connect_timeout=$timeout")))->acquire('r', 0)->release(), "cut short after $last");
    $there = array_column($server->query("SELECT routine_name AS name FROM information_schema.routines WHERE routine_schema = 'shop'"), 'name');
    same([], array_diff($procedures[1], $there), "procedures that are missing, cut short after $last");
}
same(true, $try(), 'with the right to execute them');
$pdo = $server->pdo('shop', 'app', SECRET);
fails(PDOException::class, '*denied*', fn () => $pdo->query('SELECT * FROM dlock_locks'), 'no right on the tables');
$lock = new DistributedLock($server->dsn('', $user));
$lease = $lock->acquire('asserted', 0);
$pdo->beginTransaction();
$server->assert($pdo, 'Lock:asserted', $lease->fencingToken);
same([true, true], [$pdo->commit(), $lease->release()], 'dlock_assert() by the application\'s user');
exec('env -u LD_PRELOAD mariadb --no-defaults -uroot -S ' . escapeshellarg("$server->dir/socket/s") . ' shop < ' . escapeshellarg(dirname(__DIR__, 2) . '/src/database/sql/mysql.sql') . ' 2>&1', $output, $code);
same([0, []], [$code, $output], 'mysql.sql once more');

// ---- read-only ----
$server->query('SET GLOBAL read_only = 1');
$fails("$at: *read-only (read_only, or a replica); name all hosts in the address", fn () => $try('read_timeout=61'), 'read-only');
$server->query('SET GLOBAL read_only = 0');
same(true, $lock->lock('r2', 0), 'writable again');
// MariaDB 12.0.1 and later have words for it.
$words = relay($server->address());
$said = function (string $word) use ($words, $user) {
    $words->order(0, ['replace' => ['@@global.read_only', str_pad("'$word'", 18)]]);
    $timeout = 65 + strlen($word); // a session for each
    return (new DistributedLock("mysql://$user@{$words->address()}/shop?connect_timeout=$timeout"))->lock('word', 0);
};
same(true, $said('OFF'), 'OFF: it takes writes');
foreach (['ON', 'NO_LOCK', 'NO_LOCK_NO_ADMIN'] as $word) {
    fails(ConnectionException::class, '*read-only (read_only, or a replica)*', fn () => $said($word), $word);
}

// ---- too many connections ----
$server->query('SET GLOBAL max_connections = 10');
$many = [];
wait_for(function () use ($server, $try, &$many) { // the server may still count closed connections for a moment
    thrown_by(function () use ($server, &$many) {
        while (count($many) < 20) {
            $many[] = $server->pdo('shop', 'app', SECRET);
        }
    });
    static $number = 0;
    return thrown_by(fn () => $try(sprintf('connect_timeout=59.%03d', $number++))); // each has a connection of its own
}, 60, 'no more room');
$fails("$at: *: raise max_connections; each process that locks has one, and one more while leases are renewed or it waits", fn () => $try('connect_timeout=60'), 'too many connections');
$many = [];
// The server may still count closed connections for a moment.
wait_for(fn () => !thrown_by(fn () => $server->query('SET GLOBAL max_connections = 60')), 60, 'room for a connection');

// ---- a crash keeps leases; another server, as after a failover, begins with the guard ----
$make = fn () => new DistributedLock($server->dsn('guard=60'), ttl: 50);
$lease = $make()->acquire('kept', 0);
$server->crash();
$server->restart();
same([null, true, true], [$make()->tryAcquire('kept'), $lease->isHeld(), $lease->release()], 'after a crash');
$server->query('UPDATE dlock_era SET guard = 0');
same(true, $make()->lock('before', 0), 'before another server');
$server->query("SET GLOBAL server_id = 7");
array_map($server->endSession(...), $server->sessions());
$e = thrown_by(fn () => $make()->acquire('other', 0.1));
holds($e instanceof AcquireTimeoutException && str_contains($e->getMessage(), "$at crashed or was replaced, and may have forgotten leases: no lock is granted for another "), 'another server', $e?->getMessage());
$server->settle();
same(true, $make()->lock('other', 60), 'after the guard');

// ---- the procedures' owner may wake no session: a waiter looks by itself ----
$server->query("CREATE USER owner@'%' IDENTIFIED BY '" . SECRET . "'");
$server->query("CREATE DATABASE other");
$server->query("GRANT ALL ON other.* TO owner@'%'");
$server->query("GRANT EXECUTE ON other.* TO app@'%'");
$address = $server->address();
same(true, (new DistributedLock('mysql://owner:' . SECRET . "@$address/other?create=1"))->lock('r', 0), 'an owner');
$dsn = "mysql://$user@$address/other";
$open = new DistributedLock($dsn);
$open->lock('open', 0);
$server->query('SET GLOBAL read_only = 1');
$fails("$at: *read-only*", fn () => $open->lock('r2', 0), 'read-only, under an open session');
$server->query('SET GLOBAL read_only = 0');
$holder = (new DistributedLock($dsn))->acquire('slow', 0);
$waiter = fork_child(fn () => (new DistributedLock($dsn))->tryAcquire('slow', 60)?->release());
wait_for(fn () => $server->query("SELECT * FROM other.dlock_waiters WHERE name = 'Lock:slow'") !== [], 60, 'the waiter to be in the queue');
$start = now();
same([true, true], [$holder->release(), $waiter->result()], 'a waiter that nobody wakes');
within(0, now() - $start, SOON, 'its seconds');

// ---- a killed waiter delays no other waiter ----
$holder = (new DistributedLock($dsn))->acquire('left', 0, 9);
$gone = fork_child(fn () => (new DistributedLock($dsn))->tryAcquire('left', 60));
wait_for(fn () => $server->query("SELECT * FROM other.dlock_waiters WHERE name = 'Lock:left'") !== [], 60, 'it to be in the queue');
$gone->kill();
$holder->release();
same(true, (new DistributedLock($dsn))->lock('left', 60), 'after a waiter that was killed');

fails(ConnectionException::class, 'MySQL at 127.0.0.1:' . ($nobody = closed_port()) . ': *', fn () => (new DistributedLock("mysql://$user@127.0.0.1:$nobody/shop"))->lock('r', 0));
$server->pause();
within(0.3, seconds(fn () => $fails("$at: no * within 0.4 s", fn () => $try('connect_timeout=0.4'), 'a server that is stopped')), 30, 'its seconds');
$server->resume();
foreach ($shown as $text) {
    hides([SECRET, PrivateDatabase::PASSWORD], $text, 'an exception');
}
echo "done\n";
?>
--EXPECT--
done
