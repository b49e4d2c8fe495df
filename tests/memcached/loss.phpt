--TEST--
memcached: a lock that the server gave to another client is lost: isHeld(), refresh(), release() and onLoss: "throw" report it
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$server = new PrivateMemcached();
$raw = $server->raw();
$ways = [
    'deleted' => fn (string $key) => $raw->delete($key),
    'somebody else\'s' => fn (string $key) => $raw->set($key, 'somebody-else', 100),
    'deleted and added' => fn (string $key) => $raw->delete($key) && $raw->add($key, 'somebody-else', 100),
    'flushed' => fn (string $key) => $raw->say('flush_all'),
];

// ---- by the calls, without renewal ----
$manager = new DistributedLock($server->dsn(), renew: false, ttl: 100);
foreach ($ways as $way => $take_away) {
    $resource = "r-" . md5($way);
    $values = fn () => $raw->get("Lock:$resource");
    foreach (['refresh()', 'release()', 'detach() and attach()', 'expire()', 'release() of lock()', 'the end of its scope'] as $call) {
        $raw->delete("Lock:$resource");
        $lease = str_contains($call, 'lock()') || $call === 'expire()' ? null : $manager->acquire($resource, 0);
        $lease || $manager->lock($resource, 0);
        $losses = Dlock\stats()['losses'];
        $take_away("Lock:$resource");
        $value = $values();
        switch ($call) {
            case 'refresh()':
                same(true, $lease->isHeld(), "$way: before it is known");
                fails(LeaseLostException::class, "The lock \"$resource\" was lost*", $lease->refresh(...), "$way: refresh()");
                same([LeaseState::Lost, false, 0.0, false], [$lease->state(), $lease->isHeld(), $lease->remaining(), $lease->release()], "$way: after refresh()");
                break;
            case 'release()':
                same(false, $lease->release(), "$way: release()");
                break;
            case 'detach() and attach()':
                $handle = $lease->detach();
                fails(LeaseLostException::class, "*\"$resource\"*", fn () => $manager->attach($handle), "$way: attach()");
                break;
            case 'expire()':
                same([false, false], [$manager->expire($resource, 100), $manager->release($resource)], "$way: expire()");
                break;
            case 'release() of lock()':
                same([false, false], [$manager->isLocking($resource), $manager->release($resource)], "$way: release()");
                break;
            default:
                unset($lease);
                pause(0.05);
        }
        same($value, $values(), "$way, $call: what the server has afterwards");
        str_starts_with($call, 'detach') || $call === 'the end of its scope' || same(1, Dlock\stats()['losses'] - $losses, "$way, $call: losses");
    }
}

// ---- by renewal: within a third of the lease time ----
$renewed = new DistributedLock($server->dsn(), ttl: MEMCACHED_TTL);
$throwing = new DistributedLock($server->dsn(), ttl: MEMCACHED_TTL, onLoss: 'throw');
foreach ($ways as $way => $take_away) {
    $raw->delete('Lock:renewed');
    $lease = $renewed->acquire('renewed');
    $take_away('Lock:renewed');
    $start = now();
    wait_for(fn () => !$lease->isHeld(), 60, "$way: that the renewal tells");
    within(0, now() - $start, SOON, "$way: seconds until it is known");
    same([LeaseState::Lost, false], [$lease->state(), $lease->release()], "$way: after the renewal");

    $raw->delete('Lock:thrown');
    $e = thrown_by(function () use ($throwing, $take_away, &$lease, &$start) {
        $lease = $throwing->acquire('thrown');
        $take_away('Lock:thrown');
        $start = now();
        busy(30);
    });
    same([LeaseLostException::class, 'The lock "thrown" was lost while it was held'], [get_debug_type($e), $e?->getMessage()], "$way: onLoss: \"throw\"");
    within(0, now() - $start, SOON, "$way: seconds until it is thrown");
    unset($lease);
}
same(null, thrown_by(fn () => busy(0.5)), 'it is thrown once');

// By time: thrown when the lease has expired.
$raw->delete('Lock:timed');
$e = thrown_by(function () use ($throwing, &$lease) {
    $lease = $throwing->acquire('timed', 60, MEMCACHED_TTL);
    busy(30);
});
same(LeaseLostException::class, get_debug_type($e), 'onLoss: "throw" at the end of a lease');

// In synchronized().
fails(LeaseLostException::class, 'The lock "section" was lost before its critical section ended', fn () => $renewed->synchronized('section', fn () => $raw->delete('Lock:section')));
$e = thrown_by(fn () => $throwing->synchronized('section', function () use ($raw) {
    $raw->delete('Lock:section');
    busy(30);
}));
same([LeaseLostException::class, 'The lock "section" was lost while it was held'], [get_debug_type($e), $e?->getMessage()], 'synchronized(), onLoss: "throw"');
echo "done\n";
?>
--EXPECT--
done
