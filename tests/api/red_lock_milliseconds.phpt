--TEST--
RedLock::lock() warns of a lease time below 100, because it is in milliseconds
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$warnings = [];
set_error_handler(function (int $level, string $text) use (&$warnings): bool {
    $warnings[] = [$level, $text];
    return true;
});
$red = new RedLock(redis_servers(3), retryCount: 1);
foreach ([10 => 10000, 99 => 99000] as $ttl => $meant) {
    $warnings = [];
    $lock = $red->lock(unique("ttl-$ttl"), $ttl);
    same([[E_WARNING, "RedLock::lock(): Argument #2 (\$ttl) is in milliseconds: the lock is held for $ttl ms; for as many seconds pass $meant"]], $warnings, "$ttl");
}
$warnings = [];
foreach ([[], [100], [30_000]] as $arguments) {
    $lock = $red->lock(unique('enough'), ...$arguments);
    same(true, $red->unlock($lock), 'unlock()');
}
same([], $warnings, 'others');
set_error_handler(fn (int $level, string $text) => throw new ErrorException($text));
fails(ErrorException::class, '*is in milliseconds*', fn () => $red->lock(unique('thrown'), 5));
same(false, $red->isLocked(unique('thrown')), 'nothing is locked then');
echo "done\n";
?>
--EXPECT--
done
