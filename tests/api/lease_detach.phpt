--TEST--
detach() makes a handle of the lease; attach() makes a lease of the handle, in this process or another
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$kinds = [
    'DistributedLock' => fn (...$options) => new DistributedLock(redis_server(), ...$options),
    'RedLock' => fn (...$options) => new RedLock(redis_servers(3), ...$options),
];
foreach ($kinds as $name => $make) {
    $manager = $make();
    $resource = unique("detach|$name|\0bytes|");
    $lease = $manager->acquire($resource, ttl: 100);
    $handle = $lease->detach();

    // The first object no longer controls the lock.
    same(LeaseState::Released, $lease->state(), "$name: state() after detach()");
    same(false, $lease->isHeld(), "$name: isHeld() after detach()");
    same(0.0, $lease->remaining(), "$name: remaining() after detach()");
    same(false, $lease->release(), "$name: release() after detach()");
    fails(LeaseLostException::class, 'The lock "*" has been released or detached', $lease->detach(...), "$name: a second detach()");
    fails(LeaseLostException::class, 'The lock "*" has been released or detached', $lease->refresh(...), "$name: refresh() after detach()");
    $token = $lease->token;
    $fence = $lease->fencingToken;
    unset($lease, $manager);
    gc_collect_cycles();

    // In this process.
    same(true, $make()->isLocked($resource), "$name: locked after detach()");
    $again = $make()->attach($handle);
    same($resource, $again->resource, "$name: what was handed over");
    holds($again->token !== $token && strlen($again->token) === 44, "$name: another token", $again->token, $token);
    holds($again->fencingToken > $fence, "$name: a greater fencing token", $again->fencingToken, $fence);
    $fence = $again->fencingToken;
    same(LeaseState::Held, $again->state(), "$name: state() after attach()");
    within(50, $again->remaining(), 99, "$name: remaining() after attach()");
    $again->refresh(200);
    within(150, $again->remaining(), 198, "$name: remaining() after refresh()");
    $handle = $again->detach();
    // A majority has the new lease time. A late server may be among those that tell the next process how much is left.
    wait_for(fn () => $make()->isLocked($resource) && array_filter(range(0, $name === 'RedLock' ? 2 : 0), function (int $i) use ($name, $resource) {
        $left = redis_raw($i)->cmd('PTTL', ($name === 'RedLock' ? '' : 'Lock:') . $resource);
        return $left >= 0 && $left < 150_000;
    }) === [], 20, 'the new lease time on all servers');

    // In another process, whose end releases the lock.
    $other = php_child('
        [, $class, $servers, $handle] = $argv;
        $manager = new $class($class === "RedLock" ? explode(",", $servers) : $servers);
        $lease = $manager->attach(base64_decode($handle));
        echo json_encode([$lease->isHeld(), $lease->remaining() > 150, $lease->fencingToken > $argv[4]]), "\n";
        fgets(STDIN);
    ', [$name, $name === 'RedLock' ? implode(',', redis_servers(3)) : redis_server(), base64_encode($handle), $fence]);
    same(json_encode([true, true, true]), $other->readLine(), "$name: in another process");
    same(null, $make()->tryAcquire($resource), "$name: while another process has it");
    same(0, $other->wait(), "$name: the end of the other process");
    same(false, $make()->isLocked($resource), "$name: locked after the end of the other process");
    fails(LeaseLostException::class, '*', fn () => $make()->attach($handle), "$name: attach() after the release");

    // A detached lock stays when the process ends.
    $other = php_child('
        [, $class, $servers, $resource] = $argv;
        $manager = new $class($class === "RedLock" ? explode(",", $servers) : $servers);
        echo base64_encode($manager->acquire($resource, ttl: 100)->detach()), "\n";
    ', [$name, $name === 'RedLock' ? implode(',', redis_servers(3)) : redis_server(), unique("left $name")]);
    $handle = base64_decode($other->readLine());
    same(0, $other->wait(), "$name: the end of the process that hands over");
    $lease = $make()->attach($handle);
    same(true, $lease->isHeld(), "$name: isHeld() of what was left");
    same(true, $lease->release(), "$name: release() of what was left");

    // The lease expires, and another object acquires the lock.
    $handle = $make()->acquire($resource, ttl: 0.1)->detach();
    wait_for(fn () => !$make()->isLocked($resource), 60, 'the end of the lease');
    fails(LeaseLostException::class, '*', fn () => $make()->attach($handle), "$name: attach() after the lease");
    $lease = $make()->acquire($resource);
    fails(LeaseLostException::class, '*', fn () => $make()->attach($handle), "$name: attach() when another has the lock");
    same(true, $lease->isHeld() && $lease->release(), "$name: the lease of the other");

    // Only the prefix and the servers of the manager say where the lock is.
    $handle = $make(prefix: 'a:')->acquire($resource)->detach();
    fails(LeaseLostException::class, '*', fn () => $make(prefix: 'b:')->attach($handle), "$name: attach() with another prefix");
    same(true, $make(prefix: 'a:')->attach($handle)->release(), "$name: attach() with the same prefix");
}
echo "done\n";
?>
--EXPECT--
done
