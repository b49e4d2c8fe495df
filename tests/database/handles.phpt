--TEST--
Databases: a handle works once, also in another process; the attached lease has tokens of its own
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
use Dlock\LeaseLostException;
use Dlock\LeaseState;

foreach (private_databases() as $kind => $server) {
    $dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
    $manager = new DistributedLock($dsn, ttl: 100);
    $lease = $manager->acquire('r', 0, 100);
    [$token, $fence] = [$lease->token, $lease->fencingToken];
    $handle = $lease->detach();
    same([LeaseState::Released, false, false], [$lease->state(), $lease->isHeld(), $lease->release()], "$kind: after detach()");
    same($token, $server->token('Lock:r'), "$kind: the row after detach()");

    $child = fork_child(function (callable $say, callable $hear) use ($dsn, $handle) {
        $lease = (new DistributedLock($dsn))->attach($handle);
        $say([$lease->resource, $lease->token, $lease->fencingToken, $lease->remaining()]);
        $hear();
        return $lease->release();
    });
    [$resource, $its_token, $its_fence, $remaining] = $child->hear();
    same(['r', $server->token('Lock:r')], [$resource, $its_token], "$kind: the resource and its row after attach()");
    holds($its_token !== $token && $its_fence > $fence, "$kind: tokens of its own", $token, $its_token, $fence, $its_fence);
    within(1, $remaining, 99, "$kind: the time that is left");
    fails(LeaseLostException::class, '*"r"*', fn () => $manager->attach($handle), "$kind: once more");
    $child->say(null);
    same([true, null], [$child->result(), $server->token('Lock:r')], "$kind: release() in the other process");
    fails(LeaseLostException::class, '*"r"*', fn () => $manager->attach($handle), "$kind: after its release");

    // Of several processes that attach a handle at the same time, one succeeds.
    for ($round = 0; $round < 5; $round++) {
        $handle = $manager->acquire("round-$round", 0, 100)->detach();
        $had = fork_run(3, function () use ($dsn, $handle) {
            try {
                $lease = (new DistributedLock($dsn, releaseOnShutdown: false))->attach($handle);
                return 'had';
            } catch (LeaseLostException) {
                return 'late';
            }
        }, 'kill');
        sort($had);
        same(['had', 'late', 'late'], $had, "$kind: round $round");
    }

    // While a transaction relies on the last holder, no client can attach; afterwards the handle still works.
    $lease = $manager->acquire('relied', 0, 100);
    $pdo = $server->pdo();
    $pdo->beginTransaction();
    $server->assert($pdo, 'Lock:relied', $lease->fencingToken);
    $handle = $lease->detach();
    $short = new DistributedLock($server->dsn('guard=300&read_timeout=0.3'));
    $e = wait_for(function () use ($short, $handle) { // an answer may be late
        $e = thrown_by(fn () => $short->attach($handle));
        return str_contains((string) $e?->getMessage(), ': no answer within ') ? null : $e ?? 'attached';
    }, 60, 'an answer');
    fails(ConnectionException::class, 'The lock "relied" cannot be attached yet: a transaction that relies on its holder has not ended', fn () => throw $e, $kind);
    $pdo->commit();
    same(true, $manager->attach($handle)->release(), "$kind: once the transaction is over");

    // The database is told the guard of the object that asks. Objects that differ only in their guard share a session.
    $long = (new DistributedLock($server->dsn('create=1&guard=360'), ttl: 350))->acquire('long', 0);
    same(360, $server->guard(), "$kind: the guard that acquire() announces");
    same(true, (new DistributedLock($server->dsn('create=1&guard=370')))->attach($long->detach())->release(), "$kind: attach() with another guard");
    same(370, $server->guard(), "$kind: the guard that attach() announces");

    // A renewed lease, an altered handle, the handle of another server, and a lease that has expired.
    $short = new DistributedLock($dsn, ttl: 10);
    $renewed = $short->attach($short->acquire('renewed')->detach());
    $server->waitForRenewal('Lock:renewed');
    same([true, true], [$renewed->isHeld(), $renewed->release()], "$kind: one that is renewed");
    $handle = $manager->acquire('r', 0, 100)->detach();
    fails(ValueError::class, '*attach(): Argument #1 ($handle)*', fn () => $manager->attach(strrev($handle)), "$kind: altered");
    fails(ValueError::class, '*must be a handle of the same kind of lock; this one is for DistributedLock on *',
        fn () => (new DistributedLock(redis_server()))->attach($handle), "$kind: on Redis");
    $handle = $manager->acquire('short', 0, 100)->detach();
    $server->takeAway('Lock:short');
    fails(LeaseLostException::class, '*"short"*', fn () => $manager->attach($handle), "$kind: too late");
}
echo "done\n";
?>
--EXPECT--
done
