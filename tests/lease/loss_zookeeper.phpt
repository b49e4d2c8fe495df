--TEST--
ZkLock, onLoss: "throw": the end of the session is thrown into running code
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

foreach (['stopped' => 'pause', 'killed' => 'kill'] as $name => $end) {
    $server = zk_private();
    $lock = new ZkLock($server->hosts(), sessionTimeout: 10, onLoss: 'throw');
    $flag = (new ZkLock($server->hosts(), sessionTimeout: 10))->acquire('flag', 60);
    $lease = $lock->acquire('resource', 60);
    $released = $lock->acquire('released', 60);
    same([true, true], [$released->release(), $lock->lock('locked', 60)], "$name: before");
    same(null, thrown_by(fn () => busy(5)), "$name: longer than a session lasts unseen");
    wait_for(fn () => $lease->state() === LeaseState::Held, 60, "$name: it to be kept");
    same(true, $lease->isHeld(), "$name: kept");

    $start = now();
    $server->$end();
    $caught = [];
    $e = thrown_by(fn () => busy(60));
    $took = now() - $start;
    for (; $e; $e = $e->getPrevious() ?? (count($caught) < 2 ? thrown_by(fn () => busy(30)) : null)) {
        $caught[] = $e::class . ': ' . $e->getMessage();
        same([LeaseState::Lost, false], [$lease->state(), $lease->isHeld()], "$name: the lease");
    }
    sort($caught);
    $class = LeaseLostException::class;
    same(["$class: The lock \"locked\" was lost while it was held", "$class: The lock \"resource\" was lost while it was held"], $caught, "$name: thrown");
    within(0, $took, SOON, "$name: seconds until it is thrown");
    same(null, thrown_by(fn () => busy(1)), "$name: not again");
    same(LeaseState::Lost, $flag->state(), "$name: onLoss: flag");
    $server->kill();
}

// ---- synchronized() ----
$server = zk_private();
$lock = new ZkLock($server->hosts(), sessionTimeout: 10, onLoss: 'throw');
$e = thrown_by(fn () => $lock->synchronized('resource', function () use ($server) {
    $server->pause();
    busy(60);
}));
same([LeaseLostException::class, 'The lock "resource" was lost while it was held', null],
    [get_debug_type($e), $e?->getMessage(), $e?->getPrevious()?->getMessage()], 'synchronized()');
$server->kill();
echo "done\n";
?>
--EXPECT--
done
