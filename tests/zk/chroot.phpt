--TEST--
ZkLock locks below a chroot, and creates it if it is missing
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
foreach (['existing', 'missing', 'missing/é/deep'] as $name) {
    $chroot = '/' . unique($name);
    if ($name === 'existing') {
        $zk->createPath($chroot);
    }
    $lock = new ZkLock(zk_hosts() . $chroot);
    same(false, $lock->isLocked('x'), "isLocked() below $name");
    $lease = $lock->acquire('x', 0);
    same(["_c_$lease->token-lock-0000000000"], zk_nodes($zk, 'x', "$chroot/locks"), "nodes below $name");
    same(true, $lock->isLocked('x'), "isLocked() below $name");
    // By another path to the same node.
    $same = new ZkLock(zk_hosts(), "$chroot/locks");
    same([true, false], [$same->isLocked('x'), $same->lock('x', 0)], "the same lock without chroot, $name");
    same(false, (new ZkLock(zk_hosts()))->isLocked('x'), 'a lock of that name elsewhere');
    same(true, $lease->release(), "release() below $name");
    same([], zk_nodes($zk, 'x', "$chroot/locks"), "nodes after release() below $name");
    same([true, true], [$same->lock('x', 0), $same->release('x')], "lock() without chroot, $name");
    // With "/" as root, and after the whole chroot was deleted.
    $top = new ZkLock(zk_hosts() . $chroot, '/');
    same(true, $top->lock('y', 0), "lock() below / of $name");
    same(1, count(zk_nodes($zk, 'y', $chroot)), "nodes below / of $name");
    same(true, $top->release('y'), "release() below / of $name");
    $zk->deleteAll($chroot);
    same([true, true], [$lock->lock('x', 0), $lock->release('x')], "lock() after the chroot $name was deleted");
}
// Those who have no credentials share the chroot of a user, and cannot take it away.
$chroot = '/' . unique('shared');
same(true, (new ZkLock(zk_hosts() . $chroot, auth: 'digest:alice:secret'))->acquire('x', 0)->release(), 'lock() of a user below a missing chroot');
same(ZkError::NO_AUTH, thrown_by(fn () => $zk->setAcl($chroot, [['perms' => 1, 'scheme' => 'world', 'id' => 'anyone']]))?->getCode(), 'setAcl() of the chroot');
same(true, (new ZkLock(zk_hosts() . $chroot))->acquire('y', 0)->release(), 'lock() of others below it');
// The chroot "/" works, too.
same([true, true], [($lock = new ZkLock(zk_hosts() . '/'))->lock(unique(), 0), $lock->release(unique())], 'the chroot "/"');
echo "done\n";
?>
--EXPECT--
done
