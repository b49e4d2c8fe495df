--TEST--
ZkLock: locks are free soon after their process ends, however it ends; after SIGKILL with its session
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
$ends = [
    'the end of the script' => ['', ''],
    'exit' => ['exit(3);', ''],
    'die in a function' => ['(function () { $inner = (new ZkLock($GLOBALS["argv"][1], sessionTimeout: 50))->acquire($GLOBALS["argv"][2] . "-2"); die("bye"); })();', 'bye'],
    'an uncaught exception' => ['throw new RuntimeException("uncaught");', 'Uncaught RuntimeException: uncaught'],
    'a fatal error' => ['eval("abstract class A { abstract function f(); } class B extends A {}");', 'Fatal error'],
    'the memory limit' => ['str_repeat("x", 500_000_000);', 'Allowed memory size'],
    'the time limit' => ['reach_time_limit();', 'Maximum execution time'],
    'exit in a section' => ['$lock->synchronized($argv[2] . "-2", fn () => exit(3));', ''],
    'a fatal error in a section' => ['$lock->synchronized($argv[2] . "-2", fn () => eval("abstract class A { abstract function f(); } class B extends A {}"));', 'Fatal error'],
    'SIGTERM with a handler' => ['pcntl_async_signals(true); pcntl_signal(SIGTERM, fn () => exit(3)); posix_kill(getmypid(), SIGTERM);', ''],
];
if (!has_memory_limit()) {
    unset($ends['the memory limit']);
}
foreach (['lock()' => '$held = $lock->lock($argv[2], 0);', 'a Lease' => '$lease = $lock->acquire($argv[2], 0); $held = $lease->isHeld();',
    'lock() with releaseOnShutdown: false' => '$lock = new ZkLock($argv[1], sessionTimeout: 50, releaseOnShutdown: false); $held = $lock->lock($argv[2], 0);'] as $way => $take) {
    foreach ($ends as $end => [$code, $text]) {
        $resource = unique();
        // The session is long, so that its expiry does not free the lock.
        $child = php_child("
            \$lock = new ZkLock(\$argv[1], sessionTimeout: 50);
            $take
            echo \$held ? 'held' : 'not held', \"\\n\";
            fgets(STDIN);
            register_shutdown_function(function () {
                echo 'ends at ', now(), \"\\n\"; // before anything is released
            });
            $code
        ", [zk_hosts(), $resource], '-d dlock.shutdown_timeout=60'); // by default it does not wait for a machine that stands still
        same('held', $child->readLine(), "$way, $end");
        same(1, count(zk_nodes($zk, $resource)), "nodes of $way, $end");
        $child->writeLine('go');
        wait_for_nodes($zk, 0, $resource);
        $free = now();
        $output = $child->readAll();
        holds(str_contains($output, $text), "the output of $way, $end", $output);
        preg_match('/ends at ([\d.]+)/', $output, $found);
        // 200 ms are enough; a busy machine may take longer, but a session would last 50 s.
        within(-1, $free - (float) ($found[1] ?? 0), SOON, "seconds until $way is free after $end");
        holds(in_array($child->wait(), [0, 3, 255], true), "$way, $end: the exit code", $child->wait());
        same([], zk_nodes($zk, "$resource-2"), "nodes of a second lock of $way, $end");
    }
}

// SIGKILL: the server does not know until the session expires. Then its waiter is next.
$timeout = 2.0;
$lock = new ZkLock(zk_hosts());
for ($late = true, $attempt = 1; $late && $attempt <= 10; $attempt++) { // only while its session is new
    $child = php_child('
        $lock = new ZkLock($argv[1], sessionTimeout: (float) $argv[3]);
        $lock->isLocked($argv[2]); // connects
        echo "ready\n";
        fgets(STDIN);
        echo $lock->lock($argv[2]) ? "held" : "not held", "\n";
        fgets(STDIN);
    ', [zk_hosts(), $resource = unique("killed-$attempt"), (string) $timeout]);
    $child->readLine();
    $begin = now();
    $child->writeLine('go');
    $said = $child->readLine();
    $is_locked = $lock->isLocked($resource);
    $child->signal(SIGKILL);
    $start = now();
    $child->wait();
    $at_once = $lock->lock($resource, 0);
    $late = now() - $begin > $timeout / 4;
}
same(['held', true, false], [$said, $is_locked, $at_once], 'the one to be killed, isLocked(), and lock() right after SIGKILL');
same(true, $lock->lock($resource, 60), 'after the session timeout');
// The server checks sessions tick by tick.
within(0.5 * $timeout, now() - $start, SOON, 'seconds until it was free');
same(true, $lock->release($resource), 'release()');

// A killed waiter blocks those behind it only until its session ends.
$holder = zk_waiter(zk_hosts(), $resource);
$holder->hear();
$killed = zk_waiter(zk_hosts(), $resource, 3.5);
wait_for_nodes($zk, 2, $resource);
$behind = zk_waiter(zk_hosts(), $resource);
wait_for_nodes($zk, 3, $resource);
$killed->kill();
$holder->say('release');
same('held', $behind->hear(), 'the one behind');
$behind->say('release');
same([true, true], [$holder->result(), $behind->result()], 'release()');
echo "done\n";
?>
--EXPECT--
done
