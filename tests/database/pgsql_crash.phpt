--TEST--
PostgreSQL: after a crash, a promotion or a restored dump no lock is granted until the guard has passed; an orderly restart keeps leases
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

use Dlock\AcquireTimeoutException;
use Dlock\LeaseState;

$options = fn (int $guard) => "create=1&guard=$guard&connect_timeout=60&read_timeout=60";
$server = new PrivatePostgres(['wal_level' => 'replica']);
$make = fn (int $guard, mixed ...$more) => new DistributedLock($server->dsn($options($guard)), ...['ttl' => 2.5, ...$more]);
$forget_guard = function () use ($server) {
    $server->query('UPDATE dlock.guard SET ms = 0');
    $server->query('UPDATE dlock.era SET settles = clock_timestamp(), guard_ms = 0');
};

// ---- an orderly restart ----
$calm = new PrivatePostgres();
$dsn = $calm->dsn($options(60));
$lock = new DistributedLock($dsn, ttl: 50);
same(true, $lock->lock('first', 0), 'at once in a new database');
$lease = $lock->acquire('kept', 0, 50);
$renewed = $lock->acquire('renewed', 0);
$waiter = database_holder($dsn, 'kept', 10, 60);
wait_for(fn () => $calm->waiters('Lock:kept') !== [], 60, 'the waiter to be in the queue');
$calm->stop();
$calm->restart();
same($lease->token, $calm->grant('Lock:kept')['token'], 'after a restart in order');
same(true, $lease->release(), 'release() after it');
holds($waiter->hear() > $lease->fencingToken, 'the waiter that was there before');
$waiter->say(null);
same(true, $waiter->result(), 'its release()');
same([LeaseState::Held, true], [$renewed->state(), $renewed->release()], 'one that is renewed');
$calm->stop();

// ---- a crash ----
$lease = $make(60, ttl: 50, renew: false)->acquire('crash', 0);
$forget_guard();
$renewed = $make(3)->acquire('crash-renewed', 60);
$waiter = database_holder($server->dsn($options(3)), 'crash', 2.5, 60);
wait_for(fn () => $server->waiters('Lock:crash') !== [], 60, 'the waiter to be in the queue');
thrown_by(fn () => $lease->refresh(2.9)); // it may be over before the answer
$server->crash();
$server->restart();
$restarted = now();
wait_for(fn () => !$renewed->isHeld(), 60, 'the loss of a lease that is renewed');
$waiter->hear();
within(3 - 0.5, now() - $restarted, SOON, 'seconds from the restart to the waiter');
$waiter->say(null);
same(true, $waiter->result(), 'release() of the waiter');
same([false, false], [$lease->isHeld(), $renewed->release()], 'leases of before the crash');

// ---- one process of the server is killed: PostgreSQL starts all of them again ----
same(true, $make(60)->lock('backend', 60), 'before it');
$sessions = $server->sessions();
posix_kill($sessions[0], SIGKILL);
wait_for(fn () => array_filter($sessions, fn (int $pid) => posix_kill($pid, 0)) === [], 60, 'the server to end them all'); // no question: libpq would print the end of its connection
$e = wait_for(fn () => ($e = thrown_by(fn () => $make(60)->acquire('other', 0.1))) instanceof Dlock\ConnectionException ? null : $e ?? 'granted', 60, 'it to answer');
same(AcquireTimeoutException::class, get_debug_type($e), 'after one of its processes was killed');
holds((bool) preg_match('/PostgreSQL at [\d.:]+ crashed or was replaced, and may have forgotten leases: no lock is granted for another [\d.]+ s/', (string) $e?->getMessage()), 'the message', $e?->getMessage());
$server->settle();
same(true, $make(60)->lock('other', 60), 'after the guard');
$forget_guard();

// ---- a longer guard, once announced, applies to all clients, also after a crash ----
same(true, $make(50, ttl: 40)->lock('long', 0), 'a lease that is longer');
$server->crash();
$server->restart();
$e = thrown_by(fn () => $make(3)->acquire('other', 0.1));
within(3.1, (float) preg_replace('/.*granted for another /s', '', (string) $e?->getMessage()), 50, 'seconds to wait after a longer guard');
$server->settle();

// ---- a standby refuses; after its promotion the guard begins; both hosts are in the address ----
$standby = $server->standby();
fails(Dlock\ConnectionException::class, "PostgreSQL at {$standby->address()}: *read-only*", fn () => (new DistributedLock($standby->dsn($options(60)), ttl: 2.5))->lock('r', 0), 'a standby');
$login = 'admin:' . rawurlencode(PrivateDatabase::PASSWORD);
$both = new DistributedLock("pgsql://$login@{$standby->address()},{$server->address()}/postgres?{$options(60)}", ttl: 2.5);
same(true, $both->lock('r', 60), 'both hosts: the one that can be written to');
$renewed = $both->acquire('moved', 60);
$server->kill();
$standby->promote();
fails(AcquireTimeoutException::class, '*no lock is granted for another*', fn () => $both->acquire('other', 0.5), 'after the promotion');
wait_for(fn () => !$renewed->isHeld(), 60, 'the loss of a lease of before the promotion');
$standby->settle();
same(true, $both->lock('moved', 60), 'after the guard');

// ---- leases in a restored dump do not count ----
$dump = temporary_directory() . '/dump.sql';
putenv('PGPASSWORD=' . PrivateDatabase::PASSWORD);
$client = ['-h', '127.0.0.1', '-p', (string) $standby->port, '-U', 'admin'];
run_command([PrivatePostgres::folder() . '/pg_dump', ...$client, '-n', 'dlock', '-f', $dump, 'postgres']);
run_command([PrivatePostgres::folder() . '/psql', ...$client, '-q', '-c', 'CREATE DATABASE restored', 'postgres']);
run_command([PrivatePostgres::folder() . '/psql', ...$client, '-q', '-f', $dump, 'restored']);
putenv('PGPASSWORD');
$restored = new DistributedLock("pgsql://$login@{$standby->address()}/restored?guard=60", ttl: 2.5);
fails(AcquireTimeoutException::class, '*no lock is granted for another*', fn () => $restored->acquire('r', 0.1), 'a dump that was restored');
echo "done\n";
?>
--EXPECT--
done
