--TEST--
If replicas acknowledge, a reader becomes the writer at once, by waiting, before the guard has passed, and after a failover; and the writer a reader
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/replicated.inc';

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;

$set = new SentinelSet(downAfter: 60_000);
$both = fn (int|float $guard) => new Dlock\ReadWriteLock($set->dsn(['guard' => $guard]), ttl: 10);
$locks = $both(10);
[$reads, $writes] = [$locks->readLock(), $locks->writeLock()];
/** A reader in a process of its own, which releases when it hears something. */
$reader = fn (string $name) => fork_child(function (callable $say, callable $hear) use ($reads, $name) {
    $lease = $reads->acquire($name, timeout: 120);
    $say('reads');
    $hear();
    return $lease->release();
});

// ---- at once, and back ----
$lease = $reads->acquire('a', timeout: 120);
$token = $lease->fencingToken;
$lease->upgrade(0);
holds($lease->fencingToken > $token, 'its fencing token', $token, $lease->fencingToken);
same([true, null], [$lease->isHeld(), fork_child(fn () => $reads->tryAcquire('a'))->result()], 'nobody else reads');
$lease->downgrade();
$other = $reader('a');
same('reads', $other->hear(), 'downgrade()');

// ---- others read ----
fails(AcquireTimeoutException::class, 'The lock "a" was read by others for 0 s*', fn () => $lease->upgrade(0));
$second = fork_child(function (callable $say, callable $hear) use ($reads) {
    $lease = $reads->acquire('a', timeout: 120);
    $say('reads');
    $hear();
    try {
        return $lease->upgrade(60);
    } catch (DeadlockException) {
        return 'the second one';
    } finally {
        $lease->release();
    }
});
$second->hear();
$upgrades = fork_child(function (callable $say) use ($reads) {
    $lease = $reads->acquire('a', timeout: 120);
    $say('reads');
    $lease->upgrade(120);
    $say($lease->fencingToken);
    return $lease->release();
});
$upgrades->hear();
$token = $lease->fencingToken;
wait_for(fn () => $reads->inspect('a')->waiting === 1, 60, 'one that waits');
$second->say('go');
same('the second one', $second->result(), 'one that waits for the same');
same(null, $reads->tryAcquire('a'), 'a reader that comes now');
$other->say('release');
same([true, true], [$other->result(), $lease->release()], 'the others release');
same([true, true], [$upgrades->hear() > $token, $upgrades->result()], 'then it is the writer');

// ---- the writer is kept across a failover, although the promoted server knows it as a reader ----
$lease = $reads->acquire('b', timeout: 120);
$replica = $set->replicas()[0];
wait_for(fn () => $replica->raw()->cmd('ZSCORE', 'ReadWriteLock:b', "h$lease->token") !== null, 60, 'a replica that knows the reader');
$lease->upgrade(30);
$token = $lease->fencingToken;
$set->failOver();
$lease->refresh();
$pool = $set->master()->raw()->cmd('ZSCORE', 'ReadWriteLock:b', "w$lease->token");
same(['1000000000', true], [$pool, $lease->isHeld()], 'after a failover');
// As if a replica without that knowledge had just been promoted.
$raw = $set->master()->raw();
$raw->cmd('ZREM', 'ReadWriteLock:b', "w$lease->token");
$raw->cmd('ZADD', 'ReadWriteLock:b', '1', '$used');
$raw->cmd('DEL', 'dlock:era');
$lease->refresh();
same(['1000000000', '1000000000'], $raw->cmd('ZMSCORE', 'ReadWriteLock:b', "w$lease->token", '$used'), 'it is the writer again');
// The same when other clients may have read since.
$other = $reads->acquire('c', timeout: 120);
$raw->cmd('ZREM', 'ReadWriteLock:b', "w$lease->token");
$raw->cmd('ZADD', 'ReadWriteLock:b', '1', '$used');
fails(Dlock\LeaseLostException::class, '*', fn () => $lease->refresh(), 'after the guard');
$lease = $reads->acquire('b', timeout: 120);
holds($lease->fencingToken > $token, 'a later fencing token');

// ---- refused before the guard has passed, granted after it ----
$raw->cmd('DEL', 'dlock:era');
fails(AcquireTimeoutException::class, 'The lease of the lock "b" is a reader\'s as before: Redis at *', fn () => $lease->upgrade(0), 'before');
$lease->upgrade(120);
same([true, true], [$lease->isHeld(), $lease->release()], 'and after');

// ---- replicas do not answer: the outcome is unknown ----
$lease = $reads->acquire('d', timeout: 120);
$replicas = $set->replicas();
array_map(fn ($replica) => $replica->pause(), $replicas);
fails(Dlock\ConnectionException::class, '*', fn () => $lease->upgrade(0), 'without replicas');
array_map(fn ($replica) => $replica->resume(), $replicas);
wait_for(fn () => thrown_by(fn () => $lease->upgrade(0)) === null, 60, 'replicas');
same(true, $lease->release(), 'release()');
echo "done\n";
?>
--EXPECT--
done
