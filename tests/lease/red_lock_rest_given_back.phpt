--TEST--
RedLock: if refresh() finds that a majority has lost the lock, the other servers release it
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/lease.inc';

$locks = new Locks('RedLock', array_slice(redis_addresses(), 0, 5));
foreach ([false, true] as $renew) {
    $resource = unique($renew ? 'renewed' : 'not renewed');
    $lease = $locks->manager(renew: $renew)->acquire($resource, 0, 1000);
    take_away($locks, $resource, 'delete', [0, 3]);
    take_away($locks, $resource, 'steal', [4]);
    fails('Dlock\LeaseLostException', '*3 of 5 servers do not have the lock*', fn () => $lease->refresh(1000));
    same(Dlock\LeaseState::Lost, $lease->state(), "$resource: state()");
    wait_for(fn () => values_of($locks, $resource) === [null, null, null, null, 'somebody-else'], 60, "$resource: the servers to be free");
}
echo "done\n";
?>
--EXPECT--
done
