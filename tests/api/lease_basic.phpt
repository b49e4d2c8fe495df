--TEST--
A Lease reports its resource, tokens, state and remaining time, from the acquisition to the release
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$managers = [
    'DistributedLock' => [new DistributedLock(redis_server()), 'Lock:'],
    'RedLock' => [new RedLock(redis_servers(3)), ''],
];
$redis = redis_raw();
foreach ($managers as $name => [$manager, $prefix]) {
    $resource = unique($name);
    $lease = $manager->acquire($resource, ttl: 100);

    same(Dlock\Lease::class, $lease::class, "$name: the class");
    same($resource, $lease->resource, "$name: resource");
    holds((bool) preg_match('/^[0-9a-f]{32,}$/', $lease->token), "$name: a token of 128 bits or more", $lease->token);
    wait_for(fn () => $manager->isLocked($resource) && $redis->cmd('GET', $prefix . $resource) === $lease->token, 60, 'the key with the token as its value');
    within(50_000, $redis->cmd('PTTL', $prefix . $resource), 100_000, "$name: the time to live");
    holds($lease->fencingToken > 0, "$name: the fencing token is positive", $lease->fencingToken);

    // The lease is held.
    same(LeaseState::Held, $lease->state(), "$name: state()");
    same(true, $lease->isHeld(), "$name: isHeld()");
    same(null, $lease->assertHeld(), "$name: assertHeld()");
    // The lease time less what clocks may disagree about; it never grows.
    $before = 100 - 100 * 0.01;
    for ($i = 0; $i < 200; $i++) {
        $remaining = $lease->remaining();
        holds($remaining <= $before, "$name: remaining() does not grow", $remaining, $before);
        $before = $remaining;
    }
    holds($before > 50, "$name: remaining() is about the lease time", $before);

    // Properties are read-only.
    foreach (['resource' => 'x', 'token' => 'x', 'fencingToken' => 1] as $property => $value) {
        fails(Error::class, "Cannot modify readonly property Dlock\Lease::\$$property", fn () => $lease->$property = $value);
    }

    // After the release.
    same(true, $lease->release(), "$name: release()");
    same(LeaseState::Released, $lease->state(), "$name: state() after release()");
    same(false, $lease->isHeld(), "$name: isHeld() after release()");
    same(0.0, $lease->remaining(), "$name: remaining() after release()");
    same(false, $lease->release(), "$name: a second release()");
    fails(LeaseLostException::class, "The lock \"$resource\" has been released or detached", $lease->assertHeld(...));
    fails(LeaseLostException::class, "The lock \"$resource\" has been released or detached", $lease->refresh(...));
    fails(LeaseLostException::class, "The lock \"$resource\" has been released or detached", $lease->detach(...));
    same($resource, $lease->resource, "$name: resource after release()");
    wait_until_gone($redis, $prefix . $resource);

    // The lease expires.
    $lease = $manager->acquire($resource, ttl: 0.1);
    wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
    same(LeaseState::Lost, $lease->state(), "$name: state() after the lease");
    same(0.0, $lease->remaining(), "$name: remaining() after the lease");
    fails(LeaseLostException::class, "The lock \"$resource\" was lost", $lease->assertHeld(...));
    fails(LeaseLostException::class, "The lock \"$resource\" was lost", $lease->refresh(...));
    fails(LeaseLostException::class, "The lock \"$resource\" was lost", $lease->detach(...));
    for ($i = 0; $i < 3; $i++) {
        wait_until_gone(redis_raw($i), $prefix . $resource);
    }
    same(false, $lease->release(), "$name: release() after the lease");
    same(LeaseState::Lost, $lease->state(), "$name: state() after that");
}
echo "done\n";
?>
--EXPECT--
done
