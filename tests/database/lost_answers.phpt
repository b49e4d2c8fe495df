--TEST--
Databases: a lost answer causes no second holder, no lease in which its holder believes for too long, and leaves nothing behind
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

foreach (private_databases() as $kind => $server) {
    $relay = relay($server->address());
    $there = fn (string $text) => str_replace($server->address(), $relay->address(), $text);
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $lock = new DistributedLock($there($dsn), ttl: 100, renew: false);
    $other = new DistributedLock($server->dsn('guard=300'), ttl: 100, renew: false);
    $lose = function (int|bool $answers) use (&$lock, &$relay) {
        $answers && $lock->isLocked('asked'); // begins a session: otherwise the answer to its beginning would be lost
        $relay->order(0, ['swallow' => $answers]);
    };
    /** Waits until the database answers, and $so holds. */
    $until = function (callable $so, string $what) use (&$lock, $kind) {
        wait_for(fn () => !thrown_by(fn () => $lock->isLocked('asked')) && $so(), 60, "$kind: $what");
    };
    $told = function (Dlock\Lease $lease) use ($server) { // compares the ends: time passes between both questions
        $end = $server->grant('Lock:r')['left'] + now();
        return now() + $lease->remaining() <= $end + 0.001;
    };

    // ---- one answer is lost: the client asks again ----
    $lose(1);
    $lease = $lock->acquire('r', 0);
    $grant = $server->grant('Lock:r');
    same([$lease->token, $lease->fencingToken, true], [$grant['token'], $grant['fence'], $told($lease)], "$kind: the grant's");
    $lose(1);
    $lease->refresh(200);
    holds($lease->remaining() > 150 && $told($lease), "$kind: the extension's");
    $lose(1);
    $lease->refresh(90);
    holds($lease->remaining() <= 90 && $told($lease), "$kind: that of one that shortens it");
    $lose(1);
    same([true, null], [$lease->release(), $server->token('Lock:r')], "$kind: the release's");

    // ---- all answers are lost ----
    // A separate relay: otherwise the answer to a release in the background could be the first lost one.
    $relay = relay($server->address());
    $lock = new DistributedLock(str_replace($server->address(), $relay->address(), $dsn), ttl: 100, renew: false);
    $lose(true);
    fails(Dlock\ConnectionException::class, '*', fn () => $lock->acquire('r', 0), "$kind: grants that are not heard of");
    holds($server->token('Lock:r') !== null, "$kind: it was granted");
    $lose(false);
    $until(fn () => $server->token('Lock:r') === null, 'what nobody knows to hold is given back');
    $lease = $lock->acquire('r', 0);
    foreach ([200, 60] as $ttl) {
        $lose(true);
        fails(Dlock\ConnectionException::class, '*', fn () => $lease->refresh($ttl), "$kind: refresh($ttl)");
        holds($told($lease) && $lease->remaining() <= 100, "$kind: refresh($ttl) without an answer is not believed in", $lease->remaining());
        $lose(false);
    }
    holds($lease->remaining() <= 60, "$kind: the shorter one may be true");
    same(null, $other->tryAcquire('r'), "$kind: it is held");
    $lose(true);
    fails(Dlock\ConnectionException::class, '*', fn () => $lease->release(), "$kind: releases without an answer");
    same(false, $lease->isHeld(), "$kind: after it");
    $next = $other->acquire('r', 60);
    holds($next->fencingToken > $lease->fencingToken, "$kind: the next holder");
    $lose(false);
    $until(fn () => true, 'the release once more');
    same($next->token, $server->token('Lock:r'), "$kind: which takes nothing from the next holder");

    // These use a relay of their own. Otherwise a request that $lock repeats in the background could be the one without
    // an answer.
    $theirs = relay($server->address());

    // ---- a waiter's answer is lost ----
    $dsn = str_replace($server->address(), $theirs->address(), $server->dsn('guard=300&connect_timeout=60&read_timeout=60'));
    $waiter = database_holder($dsn, 'r', 100, 60);
    wait_for(fn () => $server->waiters('Lock:r') !== [], 60, 'the waiter to be in the queue');
    $theirs->order(0, ['swallow' => 1]);
    same(true, $next->release(), "$kind: handed over to a waiter that does not hear of it");
    same([$waiter->hear(), []], [$server->grant('Lock:r')['fence'], $server->waiters('Lock:r')], "$kind: it asks, and has it");
    $waiter->say(null);
    same([true, null], [$waiter->result(), $server->token('Lock:r')], "$kind: its release()");

    // ---- the answer to an assertion is lost: the application's transaction ends with its connection ----
    $lease = $other->acquire('r', 0);
    $host = '127.0.0.1;port=' . $theirs->port();
    $app = $kind === 'pgsql' ? new PDO("pgsql:host=$host;dbname=postgres", 'admin', $server::PASSWORD) : new PDO("mysql:host=$host;dbname=shop", 'admin', $server::PASSWORD);
    $app->beginTransaction();
    $theirs->order(0, ['swallow' => 1]);
    holds(thrown_by(fn () => $server->assert($app, 'Lock:r', $lease->fencingToken)) instanceof PDOException, "$kind: an assertion without an answer");
    same(true, $lease->release(), "$kind: release() after it");
    $next = $other->acquire('r', 60);
    $late = $server->pdo();
    $late->beginTransaction();
    fails(PDOException::class, $server->lateMessage(), fn () => $server->assert($late, 'Lock:r', $lease->fencingToken), "$kind: late");
    $late->rollBack();
    same([true, null, []], [$next->release(), $server->token('Lock:r'), $server->waiters('Lock:r')], "$kind: nothing is left");
}
echo "done\n";
?>
--EXPECT--
done
