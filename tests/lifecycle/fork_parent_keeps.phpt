--TEST--
A parent keeps its locks and its connection, however its children end
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// In a separate process, because its children print fatal errors.
$code = '
    $lock = new DistributedLock($argv[1]);
    $red = new RedLock(explode(",", $argv[2]));
    $name = $argv[3];
    $lock->lock("$name-lock", 0, 1000);
    $lease = $lock->acquire("$name-lease", 0, 1000);
    $array = $red->lock("$name-red", 1_000_000);
    $red_lease = $red->acquire("$name-red-lease", 0, 1000);

    function use_in_child(): void
    {
        global $lock, $lease, $red_lease, $red, $name;
        if ($GLOBALS["argv"][4] === "used") {
            $lock->isLocked("x");
            $lock->release("$name-lock");
            $lease->release();
            $red_lease->release();
            $red->isLocked("x");
        }
    }
    $ends = [
        "exit(0)" => fn () => exit(0),
        "exit in a function" => fn () => (function () { exit(1); })(),
        "SIGKILL" => fn () => posix_kill(getmypid(), SIGKILL),
        "an exception" => fn () => throw new LogicException("of a child"),
        "a fatal error" => fn () => eval("abstract class A { abstract function f(); } class B extends A {}"),
        "the memory limit" => fn () => getenv("USE_ZEND_ALLOC") === "0" ? exit(0) : str_repeat("x", 500_000_000),
        "dropped objects" => function () {
            unset($GLOBALS["lock"], $GLOBALS["lease"], $GLOBALS["red"], $GLOBALS["red_lease"]);
            gc_collect_cycles();
            exit(0);
        },
        "unlockAll()" => function () {
            $GLOBALS["lock"]->unlockAll();
            exit(0);
        },
    ];
    for ($round = 0; $round < 3; $round++) {
        foreach ($ends as $end => $do) {
            if (($pid = pcntl_fork()) === 0) {
                ini_set("display_errors", "0");
                use_in_child();
                $do();
                exit(99);
            }
            pcntl_waitpid($pid, $status);
            $code = pcntl_wifsignaled($status) ? "killed" : pcntl_wexitstatus($status);
            // The parent asks over the connection that it had.
            $all = [$lock->isLocking("$name-lock"), $lease->isHeld(), $lease->refresh(1000), $red_lease->refresh(1000), $red->isLocked("$name-red"), $red->isLocked("$name-red-lease")];
            if ($all !== [true, true, null, null, true, true] || $code === 99) {
                echo "after $end: $code ", json_encode($all), "\n";
            }
        }
    }
    echo json_encode([Dlock\stats()["connections"], $lock->release("$name-lock"), $lease->release(), $red->unlock($array), $red_lease->release()]), "\n";
';
foreach (['left alone', 'used'] as $use) {
    $child = php_child($code, [redis_server(), implode(',', redis_servers(3)), unique($use), $use]);
    same("[3,true,true,true,true]\n", $child->readAll(), "locks $use by the children");
    same(0, $child->wait(), 'the exit code of the parent');
}
echo "done\n";
?>
--EXPECT--
done
