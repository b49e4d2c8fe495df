--TEST--
Semaphore and ReadWriteLock on ZooKeeper: which nodes a waiter watches, and which waiters a release wakes
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

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

$private = zk_private();
$zk = $private->raw();
$server = "zookeeper://{$private->hosts()}?session_timeout=60";
$resource = unique();
$waiter = fn (callable $acquire) => fork_child(function (callable $say, callable $hear) use ($acquire) {
    $lease = $acquire();
    $say('held');
    $hear();
    return $lease->release();
});
$permits = fn (int $capacity, int $permits = 1) => $waiter(fn () => (new Semaphore($capacity, $server))->acquire($resource, $permits, 60));
$side = fn (string $name) => $waiter(fn () => (new ReadWriteLock($server))->{$name}()->acquire($resource, 60));
$end = function (ForkedChild $child, string $what) {
    $child->say('release');
    same(true, $child->result(), "release() of $what");
};

/**
 * The numbers of the nodes that these waiters' sessions watch. (A holder's watches from its wait may still be there.)
 * @param array<int, list<int>> $expected
 */
$watched = function (string $parent, array $expected, string $what) use ($private, $zk) {
    $number = fn (string $path) => (int) substr($path, -10);
    wait_for(function () use ($private, $zk, $parent, $expected, $number) {
        $owners = $found = [];
        foreach (zk_nodes($zk, $parent) as $node) {
            $owners[$zk->exists("/locks/$parent/$node")['ephemeralOwner'] ?? 0] = $number($node);
        }
        foreach (zk_watches($private->hosts()) as $path => $sessions) {
            foreach (str_starts_with($path, '/') ? $sessions : [] as $session) {
                $found[$owners[$session] ?? -1][] = $number($path);
            }
        }
        ksort($found);
        array_walk($found, fn (array &$numbers) => sort($numbers));
        return array_intersect_key($found, $expected) === $expected;
    }, 60, "$what: " . json_encode($expected));
};

// Three permits: holders end in any order, so a waiter watches the last three nodes before it.
$parent = "Semaphore:$resource";
$children = [];
for ($i = 0; $i < 5; $i++) {
    $children[$i] = $permits(3);
    wait_for_nodes($zk, $i + 1, $parent);
    $i >= 3 || same('held', $children[$i]->hear(), "holder $i");
}
$watched($parent, [3 => [0, 1, 2], 4 => [1, 2, 3]], 'of three permits');
$end($children[2], 'the last holder');
same('held', $children[3]->hear(), 'the first waiter');
$watched($parent, [4 => [0, 1, 3]], 'one further on');
$end($children[0], 'the first holder');
same('held', $children[4]->hear(), 'the second waiter');
$large = $permits(3, 3);
wait_for_nodes($zk, 4, $parent);
$watched($parent, [5 => [4]], 'one that needs them all watches the last one before it');
foreach ([1, 3, 4] as $i) {
    $end($children[$i], "holder $i");
}
same('held', $large->hear(), 'all of them');
$end($large, 'all of them');

// A reader watches the last writer before it, not its neighbor, and a writer the last node before it.
$parent = "ReadWriteLock:$resource";
$children = [];
foreach (['writeLock', 'readLock', 'readLock', 'writeLock', 'readLock', 'readLock'] as $i => $name) {
    $children[$i] = $side($name);
    wait_for_nodes($zk, $i + 1, $parent);
}
same('held', $children[0]->hear(), 'the writer');
$watched($parent, [1 => [0], 2 => [0], 3 => [2], 4 => [3], 5 => [3]], 'readers and writers');
$end($children[0], 'the writer');
same(['held', 'held'], [$children[1]->hear(), $children[2]->hear()], 'the readers');
$watched($parent, [3 => [2], 4 => [3], 5 => [3]], 'nobody else was concerned');
$end($children[2], 'the second reader');
$watched($parent, [3 => [1], 4 => [3], 5 => [3]], 'the writer looks on');
$end($children[1], 'the first reader');
same('held', $children[3]->hear(), 'the second writer');
$end($children[3], 'the second writer');
same(['held', 'held'], [$children[4]->hear(), $children[5]->hear()], 'the last readers');
$end($children[5], 'a reader');
$end($children[4], 'a reader');
echo "done\n";
?>
--EXPECT--
done
