--TEST--
At the limit of open files an exception reports it and names the server, nothing stays locked, and the process recovers by itself
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/descriptors.inc';

limit_descriptors(200);
$number = 0;
// With another timeout it is another server to the extension, with connections of its own.
$servers = function (int $n) use (&$number): array {
    $number++;
    return array_map(fn (string $server) => $server . sprintf('?read_timeout=1%03d', $number), redis_servers($n));
};
$addresses = redis_addresses();
$open = 'Too many open files';

// The thread that renews needs a descriptor beside the connection. It is started once, so this comes first.
$locks = new DistributedLock($servers(1)[0]);
with_descriptors(1, fn () => fails('Dlock\DlockException', "The thread that renews leases could not be started: $open", fn () => $locks->acquire(unique(), 0)));
same(false, $locks->isLocked(unique()), 'locked without a thread to renew it');
same(true, $locks->lock(unique(), 0), 'lock() with descriptors');
same(true, $locks->release(unique()), 'release()');

$locks = new DistributedLock($servers(1)[0]);
with_descriptors(0, function () use ($locks, $addresses, $open) {
    foreach (['lock', 'tryAcquire', 'isLocked', 'acquire'] as $call) {
        fails('Dlock\ConnectionException', "Redis at $addresses[0]: *$open", fn () => $locks->$call(unique()), "$call()");
    }
});
same(true, $locks->lock(unique(), 0), 'lock() with descriptors');
// Its connection is open now; a wait needs another one.
redis_raw()->cmd('SET', 'Lock:' . unique('taken'), 'somebody-else', 'EX', 600);
with_descriptors(0, fn () => fails('Dlock\ConnectionException', "Redis at $addresses[0]: *$open", fn () => $locks->acquire(unique('taken'), 20)));
redis_raw()->cmd('PEXPIRE', 'Lock:' . unique('taken'), 1);
same(true, $locks->lock(unique('taken'), 20), 'waiting with descriptors');

$red = new RedLock($servers(3));
foreach ([0, 1] as $left) { // for a connection to one server, which may stay
    with_descriptors($left, function () use ($red, $addresses, $open) {
        $e = thrown_by(fn () => $red->acquire(unique('red'), 0));
        same('Dlock\QuorumException', $e === null ? null : $e::class, 'thrown');
        holds(str_contains($e->getServerErrors()[$addresses[2]] ?? '', $open), 'the reason of the last server', $e->getServerErrors());
    });
}
same(true, is_array($red->lock(unique('red'))), 'RedLock::lock() with descriptors');
echo "done\n";
?>
--EXPECT--
done
