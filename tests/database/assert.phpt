--TEST--
Databases: an assertion of the fencing token holds until the application's transaction ends, at each isolation level
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
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    [$one, $other] = [new DistributedLock($dsn, ttl: 100), new DistributedLock($dsn)];
    $app = $server->pdo();
    $begin = function (string $level) use ($app, $kind) {
        $kind === 'pgsql' || $app->exec("SET SESSION TRANSACTION ISOLATION LEVEL $level");
        $app->beginTransaction();
        $kind !== 'pgsql' || $app->exec("SET TRANSACTION ISOLATION LEVEL $level");
        $app->query('SELECT 1')->fetchAll();
    };
    foreach (['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'] as $level) {
        $what = "$kind, $level";
        // The lease is renewed before and after the assertion, then expires. No other client acquires the lock before
        // the commit.
        $lease = $one->acquire('r', 0, 100);
        $begin($level);
        $lease->refresh(100);
        $server->assert($app, 'Lock:r', $lease->fencingToken);
        $server->assert($app, 'Lock:r', $lease->fencingToken);
        within(0, seconds(fn () => $lease->refresh(90)), 30, "$what: a renewal does not wait for the transaction"); // until its read timeout
        thrown_by(fn () => $lease->refresh(0.2)); // it may be over before the answer
        wait_for(fn () => !$lease->isHeld() && !$one->isLocked('r'), 60, 'the end of the lease');
        $e = thrown_by(fn () => $other->acquire('r', 0.3));
        same([Dlock\AcquireTimeoutException::class, true], [get_debug_type($e), str_contains((string) $e?->getMessage(),
            'The lock "r" is free, but a transaction that relies on its last holder has not ended yet')], "$what: another one, before the commit");
        $waiter = fork_child(fn (callable $say) => [$say('waits'), (new DistributedLock($dsn))->acquire('r', 60)->fencingToken, now()], [], 'kill');
        $waiter->hear();
        pause(0.3);
        $committed = now();
        $app->commit();
        [, $fence, $at] = $waiter->result();
        holds($fence > $lease->fencingToken && $at >= $committed, "$what: the next holder after the commit");

        // Too late: another client has acquired the lock.
        $begin($level);
        fails(PDOException::class, $server->lateMessage(), fn () => $server->assert($app, 'Lock:r', $lease->fencingToken), "$what: late");
        $app->rollBack();
        foreach (['Lock:never' => 1, 'Lock:r' => 0] as $name => $token) {
            $begin($level);
            fails(PDOException::class, $server->lateMessage(), fn () => $server->assert($app, $name, $token), "$what: $name, $token");
            $app->rollBack();
        }

        // The lease is released before the commit: the release does not wait, and no other client acquires the lock
        // before it.
        $lease = $one->acquire('early', 0, 100);
        $begin($level);
        $server->assert($app, 'Lock:early', $lease->fencingToken);
        $waiter = fork_child(fn (callable $say) => [$say('waits'), (new DistributedLock($dsn))->acquire('early', 60)->fencingToken, now()], [], 'kill');
        $waiter->hear();
        pause(0.2);
        within(0, seconds(fn () => same(true, $lease->release(), "$what: release() before the commit")), 30, "$what: its seconds");
        same(null, $other->tryAcquire('early'), "$what: after the release, before the commit");
        pause(0.2);
        $committed = now();
        $app->rollBack();
        [, $fence, $at] = $waiter->result();
        holds($fence > $lease->fencingToken && $at >= $committed, "$what: the next holder after the rollback");
    }
}
echo "done\n";
?>
--EXPECT--
done
