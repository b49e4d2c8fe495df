--TEST--
ZkLock: a parent's session and locks survive its children, which lock in sessions of their own
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

$timeout = 10.0;
// In a separate process, because its children print fatal errors.
$code = '
    require_once "' . dirname(__DIR__) . '/inc/zk.inc";
    [, $hosts, $resource, $timeout, $use] = $argv;
    $timeout = (float) $timeout;
    $zk = zk_raw();
    $lock = new ZkLock($hosts, sessionTimeout: $timeout);
    $lock->lock("$resource-1", 0);
    $lease = $lock->acquire("$resource-2", 0);
    $owner = zk_owner($zk, "$resource-1");
    function use_in_child(): void
    {
        global $lock, $lease, $resource, $owner, $zk, $use;
        if ($use === "left alone") {
            return;
        }
        $zk = zk_raw();
        $number = getmypid();
        $got = [$lease->isHeld(), $lease->state()->name, $lease->remaining(), $lease->release(), $lock->release("$resource-1"),
            $lock->lock("$resource-1", 0), $lock->isLocked("$resource-2"), $lock->lock("$resource-$number", 0)];
        if ($got !== [false, "Lost", 0.0, false, false, false, true, true]) {
            echo "in the child: ", json_encode($got), "\n";
        }
        if (in_array(zk_owner($zk, "$resource-$number"), [0, $owner], true)) {
            echo "the child uses the session of its parent\n";
        }
    }
    $ends = [
        "exit(0)" => fn () => exit(0),
        "SIGKILL" => fn () => posix_kill(getmypid(), SIGKILL),
        "exec" => fn () => pcntl_exec("/bin/true"),
        "an exception" => fn () => throw new LogicException("of a child"),
        "a fatal error" => fn () => eval("abstract class A { abstract function f(); } class B extends A {}"),
        "the memory limit" => fn () => str_repeat("x", 500_000_000),
        "dropped objects" => function () {
            unset($GLOBALS["lock"], $GLOBALS["lease"]);
            gc_collect_cycles();
            exit(0);
        },
    ];
    foreach ($ends as $end => $do) {
        if (($pid = pcntl_fork()) === 0) {
            ini_set("display_errors", "0");
            use_in_child();
            $do();
            exit(99);
        }
        pcntl_waitpid($pid, $status);
        if (!pcntl_wifsignaled($status) && pcntl_wexitstatus($status) === 99) {
            echo "$end: the child went on\n";
        }
        $all = [$lease->isHeld(), $lease->state()->name, $lease->refresh(), zk_owner($zk, "$resource-1") === $owner, zk_owner($zk, "$resource-2") === $owner];
        if ($all !== [true, "Held", null, true, true]) {
            echo "after $end: ", json_encode($all), "\n";
        }
    }
    // For longer than the session timeout: nobody gets in.
    $other = fork_child(fn () => (new ZkLock($hosts, sessionTimeout: 10))->lock("$resource-1", 1.5 * $timeout));
    if ($other->result() !== false) {
        echo "another process got the lock\n";
    }
    $all = [$lease->isHeld(), $lease->state()->name, zk_owner($zk, "$resource-1") === $owner, $lock->lock("$resource-3", 5), zk_owner($zk, "$resource-3") === $owner];
    echo json_encode([...$all, $lock->release("$resource-3"), $lock->release("$resource-1"), $lease->release(), Dlock\stats()["sessions"]]), "\n";
';
$parents = array_map(fn ($use) => php_child($code, [zk_hosts(), unique($use), (string) $timeout, $use]), ['left alone' => 'left alone', 'used' => 'used']);
foreach ($parents as $use => $parent) {
    same("[true,\"Held\",true,true,true,true,true,true,1]\n", $parent->readAll(), "locks $use by the children");
    same(0, $parent->wait(), 'the exit code of the parent');
}

// ---- many children, one after the other: the parent's threads and descriptors stay the same ----
$zk = zk_raw();
$lock = new ZkLock(zk_hosts());
$resource = unique();
$lease = $lock->acquire("$resource-0", 0);
// Not /proc/self: a thread-safe PHP caches a path's target, and a child would look at its parent.
$proc = fn () => '/proc/' . getmypid();
$count = fn () => ['threads' => count(scandir($proc() . '/task')) - 2, 'descriptors' => count(scandir($proc() . '/fd')) - 2];
$before = $count();
for ($i = 1; $i <= 20; $i++) {
    $child = fork_child(function () use ($lock, $lease, $resource, $i, $count) {
        $in_child = $count();
        $got = [$lock->lock("$resource-$i", 10), $lease->isHeld()];
        $session = zk_owner(zk_raw(), "$resource-$i");
        return [$got, $session, $in_child['threads'], $i % 2 ? $lock->release("$resource-$i") : null];
    }, [], $i % 5 ? 'exit' : 'kill');
    [$got, $session, $threads] = $child->result();
    same([[true, false], 1], [$got, $threads], "child $i: its lock, the lease, threads");
    $sessions[] = $session;
    unset($child);
}
same($before, $count(), 'threads and descriptors of the parent');
same(20, count(array_unique([...$sessions, 0])) - 1, 'sessions of children');
holds(!in_array(zk_owner($zk, "$resource-0"), $sessions, true), "none of them is the parent's");
// With locks in between, for which the parent checks its session.
for ($i = 0; $i < 5; $i++) {
    fork_child(fn () => $lock->lock("$resource-1", 10) && $lock->release("$resource-1"))->result();
    same([true, true], [$lock->lock("$resource-1", 30), $lock->release("$resource-1")], 'lock() by the parent');
}
same($before, $count(), 'threads and descriptors of the parent, again');
same([true, 1], [$lease->isHeld(), Dlock\stats()['sessions']], 'the lease, sessions');

// A child of a child, and children of a parent that waits in line.
$depths = fork_child(function () use ($lock, $resource) {
    $mine = $lock->acquire("$resource-child", 10);
    $inner = fork_child(fn () => [$lock->lock("$resource-child", 0), $mine->release(), $lock->lock("$resource-grandchild", 10)])->result();
    return [$inner, $mine->isHeld(), $mine->release()];
})->result();
same([[false, false, true], true, true], $depths, 'a child of a child');
same(true, $lease->release(), 'release()');
echo "done\n";
?>
--EXPECT--
done
