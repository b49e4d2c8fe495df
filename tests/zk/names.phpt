--TEST--
ZkLock: each resource name has one node of its own; roots are created as they are needed
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$zk = zk_raw();
$root = '/' . unique('root');
$lock = new ZkLock(zk_hosts(), "$root/é/deep er");
$names = [
    'plain' => 'plain', 'a/b' => 'a%2Fb', '/' => '%2F', '//' => '%2F%2F', '/a' => '%2Fa', 'a/' => 'a%2F',
    '.' => '%2E', '..' => '%2E.', '...' => '...', '../..' => '..%2F..', './.' => '.%2F.', '.a' => '.a',
    '%' => '%25', '%2E' => '%252E', '%2F' => '%252F', 'a%2Fb' => 'a%252Fb',
    'é' => '%C3%A9', "\u{1F512}" => '%F0%9F%94%92', "\xff\xfe" => '%FF%FE',
    "\0" => '%00', "a\0b" => 'a%00b', "a\0c" => 'a%00c', 'a' => 'a', "\n\t" => '%0A%09', "\x7f" => '%7F', ' ' => ' ', 'a b' => 'a b',
    'zookeeper' => 'zookeeper', '0' => '0', '0000000000' => '0000000000', 'a-lock-0000000001' => 'a-lock-0000000001',
    "'\"\\<>&?*#" => "'\"\\<>&?*#", 'A' => 'A',
    str_repeat('x', 1024) => str_repeat('x', 1024), str_repeat('%', 1024) => str_repeat('%25', 1024),
    str_repeat("\0", 1024) => str_repeat('%00', 1024), str_repeat('é', 512) => str_repeat('%C3%A9', 512),
];
// All at once: each name is another lock.
$leases = [];
foreach ($names as $name => $encoded) {
    $name = (string) $name;
    $leases[$name] = $lock->acquire($name, 0);
    same($name, $leases[$name]->resource, 'the resource of the lease');
    same(1, count(zk_nodes($zk, $encoded, "$root/é/deep er")), 'nodes of ' . substr($encoded, 0, 40));
    same(null, $lock->tryAcquire($name), 'a second lock of ' . substr($encoded, 0, 40));
    same(true, $lock->isLocked($name), 'isLocked() of ' . substr($encoded, 0, 40));
}
$children = $zk->getChildren("$root/é/deep er");
$expected = array_map('strval', array_values($names));
sort($expected, SORT_STRING);
sort($children, SORT_STRING);
same($expected, $children, 'the children of the root');
foreach ($leases as $name => $lease) {
    same(true, $lease->release(), "release() of $name");
}

// With "/" as root, a lock must not use the name of the server's own node.
$top = new ZkLock(zk_hosts(), '/');
$resource = unique('top');
same(true, $top->lock($resource, 0), 'lock() below "/"');
same(1, count(zk_nodes($zk, $resource, '')), 'its nodes');
same(true, $top->release($resource), 'release() below "/"');
same(true, $top->lock('zookeeper', 10), 'lock("zookeeper") below "/"');
same(1, count(zk_nodes($zk, '%7Aookeeper', '')), 'its node');
same(true, $top->release('zookeeper'), 'release("zookeeper") below "/"');

// ZkLock creates parents again that others delete at any time.
$resource = unique('deleted');
same(true, $lock->lock($resource, 0), 'lock()');
same(true, $lock->release($resource), 'release()');
$zk->delete("$root/é/deep er/$resource");
same(true, $lock->lock($resource, 0), 'lock() after its parent was deleted');
same(true, $lock->release($resource), 'release()');
for ($i = 0; $i < 20; $i++) {
    $own = "$root-$i";
    $manager = new ZkLock(zk_hosts(), $own);
    same([true, true], [$manager->lock('x', 0), $manager->release('x')], 'lock() below a new root');
    $zk->deleteAll($own);
    same([true, true], [$manager->lock('x', 0), $manager->release('x')], 'lock() below a root that was deleted');
}
echo "done\n";
?>
--EXPECT--
done
