--TEST--
Semaphores and read/write locks behind Sentinels, acknowledged by a replica: holders keep their permits across a failover, waiters get theirs, and there are never too many
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';
require __DIR__ . '/../inc/replicated.inc';
require_once __DIR__ . '/../inc/lua.inc';
require_once __DIR__ . '/../inc/lease.inc';

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

$set = new SentinelSet(downAfter: 60_000);
const GUARD = 20; // s: a busy machine needs some for a failover
$dsn = $set->dsn(['guard' => GUARD]);
$semaphore = new Semaphore(3, $dsn, ttl: GUARD);
$lock = new ReadWriteLock($dsn, ttl: GUARD);
fails(ValueError::class, '*must be between 0.003 and 20 seconds*', fn () => new Semaphore(3, $dsn, ttl: 20.1));

$took = seconds(function () use ($semaphore, &$held) {
    $held = $semaphore->acquire('sale', 2, 60);
});
holds($took > GUARD - 0.1, 'nothing is granted before the epoch is settled', $took);
$reader = $lock->readLock()->acquire('page', 60);
same([2, 1], [$held->permits, $semaphore->availablePermits('sale')], 'two of three');
$child = fork_child(function (callable $say, callable $hear) use ($semaphore, $lock) {
    $say('waits');
    $lease = $semaphore->acquire('sale', 3, 120);
    $writer = $lock->writeLock()->acquire('page', 60);
    return [$lease->fencingToken, $writer->isHeld(), $lease->release(), $writer->release()];
});
same('waits', $child->hear(), 'a child');
wait_for(fn () => counts_of('Semaphore:sale', 3, $set->master()->raw())['waiting'] === 1, 60, 'the waiter');

$set->failOver();
// Longer than the lease and the guard.
for ($i = 0; $i < 15 * GUARD; $i++) {
    nap(0.1);
    holds($held->isHeld() && $reader->isHeld(), 'held over a fail-over', [$i, $held->state(), $reader->state()]);
}
same(null, $semaphore->tryAcquire('sale', 2), 'there is no room for two more');
same([true, true], [$held->release(), $reader->release()], 'released at the new master');
[$token, $isHeld, $semaphoreReleased, $lockReleased] = $child->result();
same([true, true, true, true], [$token > $held->fencingToken, $isHeld, $semaphoreReleased, $lockReleased], 'the waiter has it all, and a greater token');
same(3, $semaphore->availablePermits('sale'), 'in the end');

// A program whose capacity is lower than the permits in use attaches a handle: its own capacity did not grant them.
$large = new Semaphore(5, $dsn, ttl: GUARD);
[$held, $other] = [$large->acquire('caps', 4, 60), $large->acquire('caps', 1, 60)];
$attached = (new Semaphore(2, $dsn, ttl: GUARD))->attach($other->detach());
same([1, true, true, true], [$attached->permits, $attached->isHeld(), $attached->release(), $held->release()], 'attach() with a lower capacity');

// A repeated request finds its grant, unless more permits are out than the capacity of the last grant. Then restored
// holders use the room of a grant that was lost with the master, and the request has none.
$redis = $set->master()->raw();
$large->acquire('late', 1, 60)->release();
$ask = fn (string $id, int $capacity) => $redis->cmd('EVAL', script('permits_acquire_replicated'), 2, 'Semaphore:late', 'dlock:era', $id, 1, $capacity, 60_000, '', 0, 1, '', 6000, '')[0];
$out = fn (int $used, int $cap) => $redis->cmd('ZADD', 'Semaphore:late', $used, '$used', $cap, '$cap', (time() + 60) * 1000, 'hone', (time() + 60) * 1000, 'hothers', $used - 1, 'wothers');
$out(11, 12);
same(1, $ask('one', 10), '11 are out, granted under 12: one that asks with 10 keeps what it has');
same('11', $redis->cmd('ZSCORE', 'Semaphore:late', '$used'), 'so it is counted');
$out(11, 10);
same(0, $ask('one', 10), '11 are out, granted under 10: its late duplicate is no grant');
same(['10', null], [$redis->cmd('ZSCORE', 'Semaphore:late', '$used'), $redis->cmd('ZSCORE', 'Semaphore:late', 'hone')], 'and holds nothing');
echo "done\n";
?>
--EXPECT--
done
