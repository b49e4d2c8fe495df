--TEST--
ZkLock: a lease that is lost by the clock, while its session survives, does not keep other clients from the lock
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$timeout = 6.0;
$zk = zk_raw();
$relay = relay(zk_hosts());
foreach (['flag', 'throw'] as $on_loss) {
    $lock = new ZkLock($relay->address(), sessionTimeout: $timeout, onLoss: $on_loss);
    $resource = unique($on_loss);
    // With "throw" the holder need not ask.
    $thrown = thrown_by(function () use ($lock, $resource, $relay, $zk, $on_loss, &$lost) {
        $lost = $lock->acquire($resource, 30);
        wait_for_nodes($zk, 1, $resource);
        $relay->cut();
        wait_for(fn () => $on_loss === 'flag' && $lost->state() === Dlock\LeaseState::Lost, 60, fn () => 'the loss: ' . shown([$lost->state(), $lost->remaining()])
            . "; the relay: {$relay->activity()}; the server's sessions: " . zk_ask('cons', zk_hosts()));
    });
    same($on_loss === 'flag' ? null : Dlock\LeaseLostException::class, $thrown ? $thrown::class : null, "$on_loss: thrown ({$thrown?->getMessage()})");
    $relay->mend();
    same(true, $lock->lock("$resource-2", 30), "$on_loss: another lock, when there is a connection again");
    wait_for_nodes($zk, 0, $resource);
    $again = $lock->acquire($resource, 10);
    holds($again->fencingToken > $lost->fencingToken, "$on_loss: the fencing token has risen");
    same([Dlock\LeaseState::Lost, false], [$lost->state(), $lost->release()], "$on_loss: the first lease");
    same([true, true], [$again->isHeld(), $again->release()], "$on_loss: the second one");
}
echo "done\n";
?>
--EXPECT--
done
