--TEST--
PostgreSQL: an exception names what is missing or refused, and what to do about it, but never a password
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
require __DIR__ . '/../inc/database.inc';

use Dlock\ConnectionException;

const SECRET = 's3cr3t-pass';

$server = new PrivatePostgres(['max_connections' => '24', 'superuser_reserved_connections' => '3']);
$at = 'PostgreSQL at ' . $server->address();
$user = 'app:' . SECRET;
$try = fn (string $options = '', string $login = '') => (new DistributedLock($server->dsn($options, $login ?: $user)))->lock('r', 0);
$shown = [];
$fails = function (string $message, callable $do, string $what) use (&$shown) {
    $e = thrown_by($do);
    $shown[] = (string) $e;
    fails(ConnectionException::class, $message, $do, $what);
};

$fails("$at: *password authentication failed*check user and password*", fn () => $try('', 'app:wrong' . SECRET), 'no such user');
$server->query("CREATE ROLE app LOGIN PASSWORD '" . SECRET . "'");
$fails("$at: *password authentication failed*", fn () => $try('', 'app:wrong' . SECRET), 'a wrong password');
putenv('PGPASSWORD=' . SECRET);
$fails("$at: *password authentication failed*", fn () => $try('', 'app'), 'PGPASSWORD is not used');
putenv('PGPASSWORD');
$fails("$at: *database \"nowhere\" does not exist*", fn () => (new DistributedLock("pgsql://$user@{$server->address()}/nowhere"))->lock('r', 0), 'no such database');

// ---- tables and rights ----
$fails("$at: *dlock*does not exist: run postgresql.sql there, or add create=1 to the address", fn () => $try(), 'no tables');
$fails("$at: *permission denied*", fn () => $try('create=1'), 'no right to create them');
$theirs = new DistributedLock($server->dsn());
same(true, $theirs->lock('theirs', 0), 'create=1');
$fails("$at: *permission denied*GRANT dlock_user TO*", fn () => $try(), 'no right to use them');
$server->query('GRANT dlock_user TO app');
same(true, $try(), 'with the right');
$pdo = new PDO("pgsql:host=127.0.0.1;port=$server->port;dbname=postgres", 'app', SECRET, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
foreach (['SELECT * FROM dlock.locks', 'DELETE FROM dlock.locks', 'SELECT * FROM dlock.era', 'SELECT dlock.unsettled_1(0)'] as $sql) {
    fails(PDOException::class, '*permission denied*', fn () => $pdo->query($sql), "without rights on what is within: $sql");
}
$lease = (new DistributedLock($server->dsn('', $user)))->acquire('asserted', 0);
$pdo->beginTransaction();
$pdo->query("SELECT dlock.assert('Lock:asserted', $lease->fencingToken)");
same(true, $pdo->commit(), 'assert() by the application\'s user');
$lease->release();

// ---- again, and in another schema ----
$admin = new DistributedLock($server->dsn('create=1&schema=my_locks'));
$held = $admin->acquire('r', 0);
same([true, '1'], [$held->isHeld(), (string) $server->query("SELECT count(*) AS n FROM my_locks.locks WHERE token = ?", [$held->token])[0]['n']], 'another schema');
putenv('PGPASSWORD=' . PrivateDatabase::PASSWORD);
run_command([PrivatePostgres::folder() . '/psql', '-h', '127.0.0.1', '-p', (string) $server->port, '-U', 'admin', '-q', '-v', 'ON_ERROR_STOP=1',
    '-f', dirname(__DIR__, 2) . '/src/database/sql/postgresql.sql', 'postgres']);
putenv('PGPASSWORD');
same([true, true], [$try(), (new DistributedLock($server->dsn()))->isLocked('theirs')], 'postgresql.sql once more: leases stay');
$processes = fork_run(4, fn () => (new DistributedLock($server->dsn('create=1&schema=at_once&connect_timeout=60&read_timeout=60')))->lock('r', 60) ? 1 : 0, 'kill');
same(4, array_sum($processes), 'created by several at once');

// ---- settings of the server, the database and the user ----
$server->query("ALTER ROLE app SET default_transaction_isolation = 'serializable'");
$server->query("ALTER ROLE app SET enable_seqscan = on");
$fresh = fn (string $options) => (new DistributedLock($server->dsn("read_timeout=$options", $user)))->lock('fresh', 0) && true;
same(true, $fresh('61.5'), 'a user with another isolation level');
$server->query('ALTER ROLE app SET default_transaction_read_only = on');
$fails("$at: *read-only*", fn () => $try('read_timeout=61.6'), 'a user that may not write');
$server->query('ALTER ROLE app RESET ALL');
$lock = new DistributedLock($server->dsn('', $user));
$lock->lock('open', 0);
$server->set('default_transaction_read_only', 'on');
wait_for(fn () => thrown_by(fn () => $lock->lock('r2', 0)) !== null, 60, 'a server that was set read-only');
$fails("$at: *: it is read-only (default_transaction_read_only, or a standby)", fn () => $lock->lock('r3', 0), 'set read-only under an open session');
$administrator = $server->pdo();
foreach (['SET default_transaction_read_only = off', 'ALTER SYSTEM RESET default_transaction_read_only', 'SELECT pg_reload_conf()'] as $sql) {
    $administrator->exec($sql);
}

// ---- another session blocks the name: dlock repeats what the database has canceled ----
wait_for(fn () => thrown_by(fn () => $lock->lock('again', 0)) === null, 60, 'the server to be writable');
$blocker = $server->pdo();
$blocker->beginTransaction();
$blocker->query("SELECT pg_advisory_xact_lock('dlock.locks'::regclass::oid::int, hashtext(encode('Lock:blocked', 'hex')))");
$quick = new DistributedLock($server->dsn('read_timeout=0.3', $user));
within(0.2, seconds(fn () => $fails("$at: *", fn () => $quick->lock('blocked', 0), 'somebody is in the way')), 30, 'its seconds');
$waiter = fork_child(fn () => wait_for(function () use ($server, $user) {
    $e = thrown_by(fn () => (new DistributedLock($server->dsn('read_timeout=0.3', $user)))->lock('blocked', 60));
    return str_contains((string) $e?->getMessage(), ': no ') ? null : $e?->getMessage() ?? 'locked'; // an answer, or a connection, may be late
}), [], 'kill');
pause(1);
$blocker->rollBack();
same('locked', $waiter->result(), 'once nobody is');

// ---- too many connections ----
$open = [];
wait_for(function () use ($server, $try, &$open) { // the server may still count closed connections for a moment
    while (count($open) < 40 && thrown_by(function () use ($server, &$open) {
        $open[] = new PDO("pgsql:host=127.0.0.1;port=$server->port;dbname=postgres", 'app', SECRET, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
    }) === null) {
    }
    static $number = 0;
    return thrown_by(fn () => $try(sprintf('read_timeout=62.%03d', $number++))); // each has a connection of its own
}, 60, 'no more room');
$fails("$at: *: raise max_connections; each process that locks has one, and one more while leases are renewed", fn () => $try('read_timeout=61.7'), 'too many connections');
$open = [];

// ---- a port without server, and a server that is no database ----
$nobody = closed_port();
fails(ConnectionException::class, "PostgreSQL at 127.0.0.1:$nobody: *Connection refused*", fn () => (new DistributedLock("pgsql://$user@127.0.0.1:$nobody/postgres"))->lock('r', 0));
$redis = redis_addresses()[0];
fails(ConnectionException::class, "PostgreSQL at $redis: *", fn () => (new DistributedLock("pgsql://$user@$redis/postgres?connect_timeout=0.5"))->lock('r', 0), 'a Redis');
$server->pause();
within(0.3, seconds(fn () => $fails("$at: no * within 0.4 s", fn () => $try('connect_timeout=0.4'), 'a server that is stopped')), 30, 'its seconds');
$server->resume();
wait_for(fn () => thrown_by(fn () => $try('read_timeout=61.9')) === null, 60, 'the server to go on');

foreach ($shown as $text) {
    hides([SECRET, PrivateDatabase::PASSWORD], $text, 'an exception');
}
fails(ValueError::class, 'RedLock::__construct(): Argument #1 ($servers) must name Redis servers, but element 0 is a database: *', fn () => new RedLock([$server->dsn()]));
fails(ValueError::class, '*semaphores and read/write locks are not offered in databases', fn () => new Dlock\Semaphore(1, $server->dsn()));
fails(ValueError::class, '*must name Redis: in databases, a stock is not offered', fn () => new Dlock\Stock($server->dsn()));
echo "done\n";
?>
--EXPECT--
done
