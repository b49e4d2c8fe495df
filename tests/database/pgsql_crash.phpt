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

$guard = 3;
$options = "create=1&guard=$guard";
$server = new PrivatePostgres(['wal_level' => 'replica']);
$make = fn (mixed ...$more) => new DistributedLock($server->dsn($options), ...['ttl' => 2.5, ...$more]);

// ---- an orderly restart ----
$calm = new PrivatePostgres();
$dsn = $calm->dsn('create=1&guard=60');
$lock = new DistributedLock($dsn, ttl: 30);
same(true, $lock->lock('first', 0), 'at once in a new database');
$lease = $lock->acquire('kept', 0, 30);
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
$lock = $make();

// ---- a crash ----
$lease = $make(renew: false)->acquire('crash', 0, 3);
$renewed = $make()->acquire('crash-renewed', 0);
$waiter = database_holder($server->dsn($options), 'crash', 2.5, 60);
wait_for(fn () => $server->waiters('Lock:crash') !== [], 60, 'the waiter to be in the queue');
$server->crash();
$server->restart();
$restarted = now();
$e = thrown_by(fn () => $make()->acquire('crash', 0.2));
same(AcquireTimeoutException::class, get_debug_type($e), 'right after the crash');
holds((bool) preg_match('/PostgreSQL at [\d.:]+ crashed or was replaced, and may have forgotten leases: no lock is granted for another [\d.]+ s/', (string) $e?->getMessage()), 'the message', $e?->getMessage());
wait_for(fn () => !$renewed->isHeld(), 60, 'the loss of a lease that is renewed');
$waiter->hear();
$waited = now() - $restarted;
within($guard - 0.5, $waited, SOON, 'seconds from the restart to the waiter');
$waiter->say(null);
same(true, $waiter->result(), 'release() of the waiter');
same([false, false], [$lease->isHeld(), $renewed->release()], 'leases of before the crash');

// ---- one process of the server is killed: PostgreSQL starts all of them again ----
same(true, $lock->lock('backend', 0), 'before it');
$killed = $server->sessions()[0];
posix_kill($killed, SIGKILL);
wait_for(fn () => !posix_kill($killed, 0), 60, 'the server to notice'); // no question: libpq would print the end of its connection
$e = wait_for(fn () => ($e = thrown_by(fn () => $make()->acquire('other', 0.1))) instanceof Dlock\ConnectionException ? null : $e ?? 'granted', 60, 'it to answer');
holds($e instanceof AcquireTimeoutException && str_contains($e->getMessage(), 'no lock is granted for another'), 'after one of its processes was killed', (string) $e);
same(true, $make()->lock('other', 60), 'after the guard');

// ---- a longer guard, once announced, applies to all clients, also after a crash ----
$long = new DistributedLock($server->dsn('create=1&guard=5'), ttl: 4); // shares the session of objects with a shorter guard
same(true, $long->lock('long', 0), 'a lease that is longer');
$server->crash();
$server->restart();
$e = thrown_by(fn () => $make()->acquire('other', 0.1));
within(3.1, (float) preg_replace('/.*granted for another /s', '', (string) $e?->getMessage()), 5, 'seconds to wait after a longer guard');
$server->query("UPDATE dlock.guard SET ms = 3000");
$server->query('UPDATE dlock.era SET settles = clock_timestamp(), guard_ms = 3000');

// ---- a standby refuses; after its promotion the guard begins; both hosts are in the address ----
$standby = $server->standby();
fails(Dlock\ConnectionException::class, "PostgreSQL at {$standby->address()}: *read-only*", fn () => (new DistributedLock($standby->dsn($options), ttl: 2.5))->lock('r', 0), 'a standby');
$login = 'admin:' . rawurlencode(PrivateDatabase::PASSWORD);
$both = new DistributedLock("pgsql://$login@{$standby->address()},{$server->address()}/postgres?$options", ttl: 2.5);
same(true, $both->lock('r', 0), 'both hosts: the one that can be written to');
$renewed = $both->acquire('moved', 0);
$server->kill();
$standby->promote();
fails(AcquireTimeoutException::class, '*no lock is granted for another*', fn () => $both->acquire('other', 0.5), 'after the promotion');
wait_for(fn () => !$renewed->isHeld(), 60, 'the loss of a lease of before the promotion');
same(true, $both->lock('moved', 60), 'after the guard');

// ---- leases in a restored dump do not count ----
$dump = temporary_directory() . '/dump.sql';
putenv('PGPASSWORD=' . PrivateDatabase::PASSWORD);
$client = ['-h', '127.0.0.1', '-p', (string) $standby->port, '-U', 'admin'];
run_command([PrivatePostgres::folder() . '/pg_dump', ...$client, '-n', 'dlock', '-f', $dump, 'postgres']);
run_command([PrivatePostgres::folder() . '/psql', ...$client, '-q', '-c', 'CREATE DATABASE restored', 'postgres']);
run_command([PrivatePostgres::folder() . '/psql', ...$client, '-q', '-f', $dump, 'restored']);
putenv('PGPASSWORD');
$restored = new DistributedLock("pgsql://$login@{$standby->address()}/restored?guard=$guard", ttl: 2.5);
fails(AcquireTimeoutException::class, '*no lock is granted for another*', fn () => $restored->acquire('r', 0.1), 'a dump that was restored');
echo "done\n";
?>
--EXPECT--
done
