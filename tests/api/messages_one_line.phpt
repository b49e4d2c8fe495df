--TEST--
Messages are one line of text, whatever the resource's name is; no name forges another line in a log
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$name = unique() . "\r\n2026-01-01 ERROR all is lost\e[2J\x7f\x01";
$clean = fn (string $class, ?Throwable $e, string $what) => holds($e instanceof $class && preg_match('/[\x00-\x1f\x7f]/', $e->getMessage()) === 0
    && str_contains($e->getMessage(), '??2026-01-01 ERROR all is lost?[2J??'), $what, $e?->getMessage());

$redis = redis_raw();
foreach ([new DistributedLock(redis_server(), 'Lock:'), new RedLock(redis_servers(1), prefix: 'Lock:')] as $lock) {
    $kind = $lock::class;
    $lease = $lock->acquire($name, 0);
    $clean(Dlock\AcquireTimeoutException::class, thrown_by(fn () => $lock->acquire($name, 0)), "$kind, not free");
    $clean(Dlock\DeadlockException::class, thrown_by(fn () => $lock->acquire($name, 1)), "$kind, a deadlock");
    $redis->cmd('DEL', "Lock:$name");
    if ($lock instanceof DistributedLock) { // RedLock's message says how many servers have it
        $clean(Dlock\LeaseLostException::class, thrown_by(fn () => $lease->refresh()), "$kind, refresh()");
    }
    thrown_by(fn () => $lease->refresh());
    $clean(Dlock\LeaseLostException::class, thrown_by(fn () => $lease->assertHeld()), "$kind, assertHeld()");
    $e = thrown_by(fn () => $lock->synchronized($name, fn () => $redis->cmd('DEL', "Lock:$name")));
    $clean(Dlock\LeaseLostException::class, $e, "$kind, synchronized()");
}
echo "done\n";
?>
--EXPECT--
done
