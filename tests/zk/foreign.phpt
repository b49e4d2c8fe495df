--TEST--
ZkLock and other clients exclude each other by their nodes; a node without sequence is no node of a lock
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$zk = zk_raw();
$uuid = fn () => preg_replace('/^(.{8})(.{4})(.{4})(.{4})(.{12})$/', '$1-$2-$3-$4-$5', bin2hex(random_bytes(16)));
$forms = [
    'Curator' => fn () => "_c_{$uuid()}-lock-",
    'kazoo' => fn () => bin2hex(random_bytes(16)) . '__lock__',
    'the recipe' => fn () => 'lock-',
    'a number alone' => fn () => '',
    'another prefix' => fn () => 'x-123456789012-',
];
$lock = new ZkLock(zk_hosts());
foreach ($forms as $name => $form) {
    $resource = unique($name);
    $zk->createPath("/locks/$resource");
    foreach ([ZkRaw::EPHEMERAL | ZkRaw::SEQUENCE, ZkRaw::SEQUENCE] as $flags) {
        // The other client holds, then ZkLock.
        $theirs = $zk->create("/locks/$resource/" . $form(), 'data', $flags);
        same([true, false, null], [$lock->isLocked($resource), $lock->lock($resource, 0), $lock->tryAcquire($resource, 0.05)], "$name holds");
        wait_for_nodes($zk, 1, $resource);
        $waiter = zk_waiter(zk_hosts(), $resource);
        wait_for_nodes($zk, 2, $resource);
        $second = $zk->create("/locks/$resource/" . $form(), '', $flags);
        $last = zk_waiter(zk_hosts(), $resource);
        wait_for_nodes($zk, 4, $resource);
        same(basename($theirs), zk_nodes($zk, $resource)[0], "$name is first");
        $zk->delete($theirs);
        same('held', $waiter->hear(), "after $name");
        // ZkLock holds, then the other client: it looks at the order of numbers.
        same(basename($second), zk_nodes($zk, $resource)[1], "$name is behind ours");
        $waiter->say('release');
        same(true, $waiter->result(), "release() before $name");
        same(basename($second), zk_nodes($zk, $resource)[0], "$name is next");
        same([true, false], [$lock->isLocked($resource), $lock->lock($resource, 0)], "$name is next");
        $zk->delete($second);
        same('held', $last->hear(), "after $name again");
        $last->say('release');
        same(true, $last->result(), "release() after $name");
        wait_for_nodes($zk, 0, $resource);
        same(false, $lock->isLocked($resource), "after $name");
    }
}

// A node without sequence holds nothing, whatever its name sorts like.
$resource = unique('others');
$zk->createPath("/locks/$resource");
foreach (['0', 'config', 'lock-', 'lock-1', 'lock-12345678', '_c_x-lock-', 'lock-000000000x', '.', 'a0000000001b', '%2F', 'é'] as $name) {
    if ($name !== '.') {
        $zk->create("/locks/$resource/$name", '', strlen($name) % 2 ? ZkRaw::EPHEMERAL : 0);
    }
}
$children = $zk->getChildren("/locks/$resource");
same(10, count($children), 'children');
same(false, $lock->isLocked($resource), 'isLocked() with children that are no locks');
$lease = $lock->acquire($resource, 0);
same([true, null], [$lock->isLocked($resource), $lock->tryAcquire($resource)], 'the lock among them');
wait_for(fn () => count($zk->getChildren("/locks/$resource")) === 11, 60, 'the node of the second attempt to go');
same(true, $lease->release(), 'release()');
same($children, $zk->getChildren("/locks/$resource"), 'children afterwards');

// Another client deletes ZkLock's node: the lock is lost, and a waiter whose node disappears queues again.
$lease = $lock->acquire($resource, 0);
$node = current(array_filter($zk->getChildren("/locks/$resource"), fn ($name) => str_contains($name, $lease->token)));
$waiter = zk_waiter(zk_hosts(), $resource);
wait_for(fn () => count($zk->getChildren("/locks/$resource")) === 12, 60, 'the waiter');
$second = current(array_diff($zk->getChildren("/locks/$resource"), $children, [$node]));
$zk->delete("/locks/$resource/$second");
// A waiter watches only the node before it, so it finds out when that disappears.
$zk->delete("/locks/$resource/$node");
same('held', $waiter->hear(), 'a waiter whose node was deleted');
same(false, $lease->release(), 'release() of what was deleted');
$waiter->say('release');
same(true, $waiter->result(), 'its release()');
echo "done\n";
?>
--EXPECT--
done
