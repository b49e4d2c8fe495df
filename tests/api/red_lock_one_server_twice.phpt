--TEST--
RedLock never counts one server under two names twice, and refuses it once both have answered; nothing is left on any server
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

[$one, $other] = redis_addresses();
$port = explode(':', $one)[1];
$lock = new RedLock(["redis://127.0.0.1:$port", "redis://localhost:$port", "redis://$other"]);
$message = "Redis at 127.0.0.1:$port and at localhost:$port is one server with two names, and would have two votes; RedLock needs each server once";
// Before both names have answered, the third server and one of them may be a majority.
wait_for(fn () => thrown_by(fn () => $lock->acquire(unique(), 0)->release()) instanceof Dlock\DlockException, 60, 'both to answer');
foreach (['acquire' => fn ($r) => $lock->acquire($r, 0), 'tryAcquire' => fn ($r) => $lock->tryAcquire($r), 'lock' => fn ($r) => $lock->lock($r, 1000)] as $method => $do) {
    $resource = unique($method);
    fails(Dlock\DlockException::class, $message, fn () => $do($resource), "$method()");
    foreach ([$one, $other] as $address) {
        wait_for(fn () => (new RedisRaw($address))->cmd('EXISTS', $resource) === 0, 60, "$method(): $address to be free");
    }
}
echo "done\n";
?>
--EXPECT--
done
