--TEST--
ZkLock at the limit of open files: an exception reports it and names the server, within its time, and the process recovers by itself
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/descriptors.inc';

limit_descriptors(200);
// A session needs a handful of descriptors; each number of missing ones fails at another place.
$refused = 0;
for ($left = 0; $left < 8; $left++) {
    $locks = new ZkLock(zk_hosts(), sessionTimeout: 10 + $left / 100);
    $held = with_descriptors($left, function () use ($locks, $left) {
        $time = seconds(function () use ($locks, $left, &$held) {
            $e = thrown_by(function () use ($locks, $left, &$held) {
                $held = $locks->acquire(unique("$left"), 0);
            });
            if ($e !== null) {
                fails('Dlock\ConnectionException', 'ZooKeeper at ' . zk_hosts() . ': *Too many open files*', fn () => throw $e, "$left left");
            }
        });
        within(0, $time, 40, 'seconds');
        return $held;
    });
    $refused += $held === null;
    same(true, $locks->lock(unique("$left-then"), 20), "lock() with descriptors, after $left");
    same(true, $locks->release(unique("$left-then")), "release() after $left");
}
within(1, $refused, 7, 'refused');

// The chroot must be created, which needs a session outside of it.
$locks = new ZkLock(zk_hosts() . '/' . unique('chroot'), sessionTimeout: 9); // others than above
$locks->isLocked('x'); // connects
foreach ([0, 1] as $left) {
    fails('Dlock\ConnectionException', 'ZooKeeper at ' . zk_hosts() . ': no session could be started: Too many open files',
        fn () => with_descriptors($left, fn () => $locks->acquire('x', 0)), "a chroot that is missing, $left left");
}
same(true, $locks->lock('x', 20), 'lock() with descriptors');
same(true, $locks->release('x'), 'release()');
echo "done\n";
?>
--EXPECT--
done
