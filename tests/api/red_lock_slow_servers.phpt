--TEST--
RedLock: servers that are stopped, read-only or full, or refuse the password, are lost votes; no reason contains a password
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$stopped = redis_private();
$replica = redis_private();
$full = redis_private(['maxmemory 1']);
$replica->raw()->cmd('REPLICAOF', '127.0.0.1', closed_port());
$stopped->pause();

$auth = test_env('DLOCK_TEST_REDIS_AUTH');
$bad = [
    $stopped->address() => [$stopped->dsn() . '?read_timeout=0.2', 'no answer within 0.2 s'],
    $replica->address() => [$replica->dsn(), 'READONLY *; it is a replica: locks are acquired on the master'],
    $full->address() => [$full->dsn(), 'OOM *; maxmemory is reached'],
    $auth => ["redis://app:not-the-password@$auth", 'WRONGPASS *'],
];

// With a majority of good servers, RedLock tolerates each bad one, in any place.
foreach ($bad as $address => [$dsn]) {
    foreach ([[$dsn, redis_server(0), redis_server(1)], [redis_server(0), redis_server(1), $dsn]] as $servers) {
        $red = new RedLock($servers);
        $resource = unique("tolerated-$address");
        $time = seconds(function () use ($red, $resource, $address) {
            $lock = $red->lock($resource);
            same($resource, $lock['resource'] ?? null, "lock() beside $address");
            same(true, $red->unlock($lock), "unlock() beside $address");
        });
        within(0, $time, SOON, "the time beside $address");
    }
}

// Alone they are no quorum, and the exception has the reason of each.
foreach ($bad as $address => [$dsn, $reason]) {
    $red = new RedLock([$dsn], 1, 1);
    $e = thrown_by(fn () => $red->acquire(unique('alone')));
    same(Dlock\QuorumException::class, get_debug_type($e), "the exception of $address");
    same([$address], array_keys($e->getServerErrors()), "the servers of $address");
    $pattern = '/^' . str_replace('\*', '.*', preg_quote($reason, '/')) . '$/';
    holds((bool) preg_match($pattern, $e->getServerErrors()[$address]), "the reason of $address", $e->getServerErrors()[$address]);
    hides(['not-the-password'], "$e" . print_r($e, true) . print_r($red, true), 'the exception');
    same(false, $red->lock(unique('alone')), "lock() on $address");
}
// Together they are no quorum either. Servers that are slower than the decision have no reason yet.
$e = thrown_by(fn () => (new RedLock(array_column($bad, 0), 1, 1))->acquire(unique('alone')));
same(Dlock\QuorumException::class, get_debug_type($e), 'the exception of all four');
within(2, count($e->getServerErrors()), 4, 'how many have a reason');
same([], array_diff(array_keys($e->getServerErrors()), array_keys($bad)), 'other servers');

// A server that answers again takes part again.
$stopped->resume();
$red = new RedLock([$stopped->dsn() . '?read_timeout=5', redis_server()]);
$lock = $red->lock(unique('again'));
same(true, is_array($lock) && $red->unlock($lock), 'both of two');
echo "done\n";
?>
--EXPECT--
done
