--TEST--
memcached: names of any bytes and lengths, each with a key of its own
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

$server = new PrivateMemcached();
$raw = $server->raw();
$one = new DistributedLock($server->dsn(), '');
$other = new DistributedLock($server->dsn(), '');

$names = ['a', 'a b', 'a  b', ' a', 'a ', "a\r\n", "a\n", "a\0", "a\0b", "\0", "\x7f", "\x80", "\xff\xfe", 'ä', '锁', 'a%20b', 'YSBi', 'YSBi ', 'YQ==', 'a:b', 'noreply',
    "a\r\nflush_all\r\n", "a b\r\ndelete a", 'dlock:sha256:', 'dlock:sha256:' . hash('sha256', str_repeat('y', 300)), 'dlock:sha256:x', 'dlock:sha256: x',
    'dlock:fence', 'dlock:clock', 'dlock:fence ', 'dlock:x'];
foreach (range(1, 31) as $byte) {
    $names[] = chr($byte);
}
foreach ([180, 187, 188, 189, 249, 250, 251, 252, 300, 1023, 1024] as $length) {
    foreach (['x', ' ', 'y'] as $byte) {
        $names[] = str_repeat($byte, $length);
        $names[] = str_repeat($byte, $length - 1) . "\n";
    }
}
same(count($names), count(array_unique($names)), 'different names');
foreach ($names as $i => $name) {
    $what = "name $i, " . substr(json_encode($name, JSON_INVALID_UTF8_SUBSTITUTE), 0, 40) . ', ' . strlen($name) . ' bytes';
    $leases[$i] = $one->tryAcquire($name, 0, 1000);
    $leases[$i] || print("$what: shares a key\n");
    same([$name, null], [$leases[$i]?->resource, $other->tryAcquire($name, 0, 1000)], $what);
    same([true, false], [$other->isLocked($name), $other->isLocked(substr($name, 0, 1023) . '-')], "$what: isLocked()");
}
$keys = array_diff($raw->keys(), ['dlock:fence', 'dlock:clock']);
same(count($names), count($keys), 'keys');
foreach ($leases as $i => $lease) {
    $lease->refresh(2000);
    $lease = $other->attach($lease->detach());
    same([$names[$i], true, false], [$lease->resource, $lease->release(), $one->isLocked($names[$i])], "name $i, attached and released");
}

// A name is its own key if possible, so that other clients find the same key.
foreach (['a', 'ä', 'a:b/c?d', str_repeat('x', 250)] as $name) {
    $lease = $one->acquire($name, 0, 1000);
    same($lease->token, $raw->get($name), "the key of $name");
    $lease->release();
}

// The prefix is part of the name.
$long = new DistributedLock($server->dsn(), str_repeat('x', 200));
same([true, false, false], [$long->lock(str_repeat('x', 100), 0), $one->lock(str_repeat('x', 300), 0), $other->isLocked(str_repeat('x', 100))], 'a long prefix');
$odd = new DistributedLock($server->dsn(), 'a b');
same([true, false, true], [$odd->lock('c', 0), $one->lock('a bc', 0), $one->lock('c', 0)], 'a prefix with a space');

foreach (['', str_repeat('x', 1025)] as $name) {
    fails(ValueError::class, '*must be *1*1024 bytes*', fn () => $one->lock($name, 0), strlen($name) . ' bytes');
}
echo "done\n";
?>
--EXPECT--
done
