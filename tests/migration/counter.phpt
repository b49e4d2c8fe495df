--TEST--
Eight processes that read, wait and write a counter lose no update under any of the locks
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/locks.inc';

const PROCESSES = 8;
const INCREMENTS = 50;

function count_up(string $kind): int
{
    $file = temporary_directory() . '/counter';
    file_put_contents($file, '0');
    fork_run(PROCESSES, function () use ($kind, $file) {
        for ($n = 0; $n < INCREMENTS; $n++) {
            under_lock($kind, unique('counter'), function () use ($file) {
                $value = (int) file_get_contents($file);
                pause(0.001);
                file_put_contents($file, (string) ($value + 1));
            });
        }
    });
    return (int) file_get_contents($file);
}

// The test must be able to see a lost update. On a busy machine one process may be done before the next is there.
for ($tries = 20; $tries > 0 && count_up('none') === PROCESSES * INCREMENTS; $tries--);
echo 'none: ', $tries > 0 ? 'updates lost' : 'none lost, so this test shows nothing', "\n";
foreach (lock_kinds() as $kind) {
    echo "$kind: ", count_up($kind), "\n";
}
?>
--EXPECT--
none: updates lost
DistributedLock: 400
RedLock: 400
Semaphore: 400
ReadWriteLock: 400
ZkLock: 400
