--TEST--
ZkLock: a process that stood still after it was cut off has had no time to find a server, so its next call waits for one
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

const SESSION_TIMEOUT = 4;

$server = zk_private();
$process = php_child('
    $lock = new ZkLock($argv[1], sessionTimeout: (float) $argv[2]);
    $lease = $lock->acquire("lost");
    echo "held\n";
    wait_for(fn () => $lease->state() !== Dlock\LeaseState::Held, 60, "the end of the connection");
    echo "cut off\n";
    fgets(STDIN);
    try {
        echo $lock->tryAcquire("another")?->isHeld() ? "held\n" : "taken\n";
    } catch (Dlock\ConnectionException $e) {
        echo $e->getMessage(), "\n";
    }
', [$server->hosts(), (string) SESSION_TIMEOUT]);
same('held', $process->readLine(), 'the first lock');
$server->kill();
same('cut off', $process->readLine(), 'without a server');
$process->signal(SIGSTOP);
$stopped = now();
$server->restart();
pause(max(0, SESSION_TIMEOUT + 1 - (now() - $stopped)));
$process->writeLine('go on');
$process->signal(SIGCONT);
same('held', $process->readLine(), 'the next lock');
echo "done\n";
?>
--EXPECT--
done
