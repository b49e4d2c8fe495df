--TEST--
ZkLock: a lock whose node is deleted, or belongs to another session, is lost soon, although the session lives
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$zk = zk_raw();
$path = fn (string $resource) => "/locks/$resource/" . zk_nodes($zk, $resource)[0];

// ---- deleted, as operators do to break a stuck lock ----
$lock = new ZkLock(zk_hosts(), sessionTimeout: 20);
$kept = $lock->acquire(unique('kept'), 0);
$lease = $lock->acquire($resource = unique('deleted'), 0);
$zk->delete($path($resource));
$other = fork_child(function (callable $say, callable $hear) use ($resource) {
    $lease = (new ZkLock(zk_hosts(), sessionTimeout: 60))->acquire($resource, 30);
    $say($lease->fencingToken);
    $hear();
    return $lease->release();
});
holds($other->hear() > $lease->fencingToken, 'another process has it, with a higher token');
wait_for(fn () => !$lease->isHeld(), 60, 'the loss');
same([LeaseState::Lost, 0.0], [$lease->state(), $lease->remaining()], 'state(), remaining()');
fails(LeaseLostException::class, "The lock \"$resource\" was lost*", fn () => $lease->assertHeld());
fails(LeaseLostException::class, "The lock \"$resource\" was lost*", fn () => $lease->refresh());
same(false, $lease->release(), 'release()');
$other->say('release');
same(true, $other->result(), "release() of the other's");
same([true, LeaseState::Held], [$kept->isHeld(), $kept->state()], 'the session, and what else is held in it, live');

// ---- another client creates it again under its name: ZkLock leaves it alone ----
$lease = $lock->acquire($resource = unique('taken'), 0);
$node = $path($resource);
$zk->delete($node);
$zk->create($node);
wait_for(fn () => !$lease->isHeld(), 60, 'the loss of what another has made again');
same([false, true], [$lease->release(), $zk->exists($node) !== null], 'release() leaves it alone');
$zk->delete($node);
same(true, $lock->lock($resource, 0), 'lock() again');
same(true, $lock->release($resource), 'release() of that');

// ---- reported as onLoss says, in code that never looks; lock() and permits as well ----
$throwing = new ZkLock(zk_hosts(), sessionTimeout: 20, onLoss: 'throw');
$resource = unique('thrown');
same("The lock \"$resource\" was lost while it was held", thrown_by(function () use ($throwing, $resource, $zk, $path) {
    $lease = $throwing->acquire($resource, 0);
    $zk->delete($path($resource));
    busy(60);
})?->getMessage(), 'onLoss: "throw"');
$resource = unique('locked');
same("The lock \"$resource\" was lost while it was held", thrown_by(function () use ($throwing, $resource, $zk, $path) {
    same(true, $throwing->lock($resource, 0), 'lock()');
    $zk->delete($path($resource));
    busy(60);
})?->getMessage(), 'onLoss: "throw", lock()');
$semaphore = new Dlock\Semaphore(2, 'zookeeper://' . zk_hosts());
$permits = [$semaphore->acquire($resource = unique('permits'), 1, 0), $semaphore->acquire($resource, 1, 0)];
$parent = array_values(preg_grep('/Semaphore.*' . preg_quote($resource, '/') . '/', $zk->getChildren('/locks')))[0];
$zk->delete("/locks/$parent/" . zk_nodes($zk, $parent)[0]);
wait_for(fn () => !$permits[0]->isHeld(), 60, 'the loss of a permit');
same(true, $permits[1]->isHeld(), 'the other permit');
same(true, $kept->isHeld(), 'what is not deleted is kept');
same(true, $kept->release(), 'release() of that');
echo "done\n";
?>
--EXPECT--
done
