--TEST--
Resources are any bytes: NUL, UTF-8 and invalid UTF-8, spaces, digits, 1024 bytes; names that differ in one byte are different locks
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$redis = redis_raw();
$lock = new DistributedLock(redis_server(), $prefix = unique() . ':');
$red = new RedLock(redis_servers(3), prefix: $prefix);
$names = [
    'x', ' ', '  ', 'two words', "a\0b", "a\0", "\0", "\0\0", "a\0c", 'naïve café ☕', '锁', "\xff\xfe", "line\nbreak", "\r\n", "tab\t", '"quoted"', "it's",
    '{tag}', '{a}{b}', '*', '?', '[a-z]', '$5', '0', '1', '42', '-1', '1.5', '007', '9223372036854775807', '99999999999999999999', 'NULL', 'nil', '|', 'a|b',
    '../../x', '/', 'a/b', '%s%n%d', '%', "'; DEL x", 'EX', 'NX', str_repeat('x', 1024), str_repeat('é', 512), str_repeat("\0", 1024), random_bytes(64),
];
foreach ($names as $name) {
    $shown = json_encode(substr($name, 0, 30), JSON_INVALID_UTF8_SUBSTITUTE);
    same(true, $lock->lock($name, 0), "lock() of $shown");
}
// All are held at once, so all are different; each key is exactly the prefix and the name.
foreach ($names as $name) {
    $shown = json_encode(substr($name, 0, 30), JSON_INVALID_UTF8_SUBSTITUTE);
    same(1, $redis->cmd('EXISTS', $prefix . $name), "the key of $shown");
    same(true, $lock->isLocking($name), "isLocking() of $shown");
    same(true, $lock->isLocked($name), "isLocked() of $shown");
    same(null, (new DistributedLock(redis_server(), $prefix))->tryAcquire($name), "tryAcquire() of $shown");
    $e = thrown_by(fn () => $lock->acquire($name, 0));
    same(Dlock\AcquireTimeoutException::class, get_debug_type($e), "acquire() of $shown");
}
same(count($names), count(((function ($lock) {
    ob_start();
    var_dump($lock);
    preg_match('/\["held"\]=>\s+array\((\d+)\)/', ob_get_clean(), $found);
    return range(1, (int) $found[1]);
})($lock))), 'names in var_dump()');
foreach ($names as $name) {
    $shown = json_encode(substr($name, 0, 30), JSON_INVALID_UTF8_SUBSTITUTE);
    same(true, $lock->release($name), "release() of $shown");
    same(0, $redis->cmd('EXISTS', $prefix . $name), "the key of $shown after release()");

    // Leases, handles and arrays carry the name unchanged.
    $lease = $lock->acquire($name);
    same($name, $lease->resource, "Lease::\$resource of $shown");
    $lease = $lock->attach($lease->detach());
    same($name, $lease->resource, "Lease::\$resource of $shown after attach()");
    same(true, $lease->release(), "Lease::release() of $shown");
    $held = $red->lock($name);
    same($name, $held['resource'], "RedLock, resource of $shown");
    same(true, $red->isLocked($name), "RedLock, isLocked() of $shown");
    same(true, $red->unlock($held), "RedLock, unlock() of $shown");
}
echo "done\n";
?>
--EXPECT--
done
