--TEST--
A holder knows of a stolen or deleted lock with the next renewal, even if it does not look
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseState;

$ttl = 30.0;
$soon = 0.8 * $ttl; // the renewal is due after a third
$cases = [];
$begun = now();
foreach (renewed_locks_and_pools() as $name => $locks) {
    foreach (['steal', 'delete'] as $how) {
        $resource = unique("$name-$how");
        $lease = $locks->manager(ttl: $ttl)->acquire($resource, 0);
        same([true, LeaseState::Held], [$lease->isHeld(), $lease->state()], "$name: before");
        $cases["$name, $how"] = [$locks, $resource, $lease, $how];
    }
}
$losses = Dlock\stats()['losses'];
foreach ($cases as [$locks, $resource, $lease, $how]) {
    take_away($locks, $resource, $how);
}
foreach ($cases as $name => [$locks, $resource, $lease, $how]) {
    holds($lease->isHeld() || now() - $begun > $ttl / 3, "$name: no look at the servers before the next renewal");
}
$start = now();
foreach ($cases as $name => [$locks, $resource, $lease, $how]) {
    $took = busy_until(fn () => !$lease->isHeld(), 60) === null ? 99 : now() - $start;
    within(0, $took, $soon, "$name: seconds until it is known");
    same([LeaseState::Lost, 0.0], [$lease->state(), $lease->remaining()], "$name: state(), remaining()");
    fails('Dlock\LeaseLostException', "The lock \"$resource\" was lost", fn () => $lease->assertHeld(), $name);
    fails('Dlock\LeaseLostException', "The lock \"$resource\" was lost", fn () => $lease->refresh(), $name);
    fails('Dlock\LeaseLostException', "The lock \"$resource\" was lost", fn () => $lease->detach(), $name);
    same(false, $lease->release(), "$name: release()");
    same(array_fill(0, count($locks->addresses), $how === 'steal' ? 'somebody-else' : null), values_of($locks, $resource), "$name: what is left alone");
}
same(count($cases), Dlock\stats()['losses'] - $losses, 'losses');

// ---- a lost lease is not renewed any more, even if its value returns ----
foreach (renewed_locks_and_pools() as $name => $locks) {
    $resource = unique("$name-back");
    $lease = patiently(fn () => $locks->manager(ttl: 1.0)->acquire($resource, 60));
    take_away($locks, $resource);
    wait_for(fn () => !$lease->isHeld(), 60, "$name: the loss");
    foreach ($locks->raw() as $redis) {
        $locks->setHolder($redis, $resource, $lease->token, 1000);
    }
    wait_for(fn () => array_filter(values_of($locks, $resource)) === [], 60, "$name: the end of its time");
    same([LeaseState::Lost, false], [$lease->state(), $lease->release()], "$name: lost for good");
}

// ---- lock(): release() reports the loss ----
$lock = new DistributedLock(redis_server(), ttl: 60);
$resource = unique('lock');
same(true, $lock->lock($resource, 10), 'lock()');
redis_raw()->cmd('SET', "Lock:$resource", 'somebody-else', 'PX', 60_000);
same([false, false, false], [$lock->isLocking($resource), $lock->release($resource), $lock->lock($resource, 0)], 'lock()');
same('somebody-else', redis_raw()->cmd('GET', "Lock:$resource"), 'the other one keeps it');
foreach ($cases as [$locks, $resource]) {
    clean_up($locks, $resource);
}
echo "done\n";
?>
--EXPECT--
done
