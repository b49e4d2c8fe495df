--TEST--
Databases: a server is stopped and continues: leases outlast it or are lost in time, unanswered grants are released, waiters keep their turn
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

use Dlock\ConnectionException;
use Dlock\LeaseState;

foreach (private_databases() as $kind => $server) {
    $patient = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $locks = new DistributedLock($patient, ttl: 100);
    [$held, $renewed] = [$locks->acquire('held', 0, 280), $locks->acquire('renewed', 0)];
    $waiter = database_holder($patient, 'held', 100, 300);
    wait_for(fn () => $server->waiters('Lock:held') !== [], 60, 'the waiter to be in the queue');
    // One client has a session, the other has none.
    [$open, $new] = [new DistributedLock($server->dsn('guard=300&read_timeout=0.4'), ttl: 100), new DistributedLock($server->dsn('guard=300&connect_timeout=0.4'), ttl: 100)];
    wait_for(fn () => thrown_by(fn () => $open->isLocked('asked')) === null, 60, 'a session');
    $short = $locks->acquire('short', 0);
    $second = database_holder($patient, 'short', 100, 300);
    wait_for(fn () => $server->waiters('Lock:short') !== [], 60, 'the second waiter to be in the queue');
    thrown_by(fn () => $short->refresh(2)); // it may be over before the answer

    $server->pause();
    fails(ConnectionException::class, "* at {$server->address()}: no *", fn () => $open->acquire('late', 0), "$kind: asked of a server that is stopped");
    fails(ConnectionException::class, "* at {$server->address()}: no * within 0.4 s", fn () => $new->acquire('late', 0), "$kind: connected to it");
    same([true, true, LeaseState::Held], [$held->isHeld(), $renewed->isHeld(), $renewed->state()], "$kind: leases, meanwhile");
    wait_for(fn () => !$short->isHeld(), 60, "$kind: a lease that cannot be renewed is lost in time");
    $server->resume();

    holds($second->hear() > $short->fencingToken, "$kind: the next holder of what was lost");
    fails(Dlock\LeaseLostException::class, '*"short" was lost*', fn () => $short->refresh(), "$kind: its holder before");
    wait_for(fn () => thrown_by(fn () => $open->isLocked('asked')) === null && $server->grant('Lock:late') !== null && $server->token('Lock:late') === null, 60, "$kind: what nobody knows to hold is given back");
    same([true, $held->token, true, LeaseState::Held], [$held->isHeld(), $server->token('Lock:held'), $renewed->refresh() ?? true, $renewed->state()], "$kind: leases, afterwards");
    same(true, $held->release(), "$kind: release()");
    holds($waiter->hear() > $held->fencingToken, "$kind: the waiter has its turn");
    foreach ([$waiter, $second] as $child) {
        $child->say(null);
        same(true, $child->result(), "$kind: its release()");
    }
    same(true, $renewed->release(), "$kind: the last release()");
}
echo "done\n";
?>
--EXPECT--
done
