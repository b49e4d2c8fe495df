--TEST--
legacy: true: if old and new processes find an ended timestamp at the same moment, at most one holds the lock
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/legacy.inc';

const ROUNDS = 300;
$redis = redis_raw();
$resource = unique();
foreach ([[4, 0], [3, 3]] as [$new, $old]) {
    $processes = [];
    for ($i = 0; $i < $new + $old; $i++) {
        $processes[] = $child = fork_child(function (callable $say, callable $hear) use ($resource, $i, $new) {
            $lock = $i < $new ? new NewLock(new DistributedLock(redis_server(), ttl: 30, legacy: true), $resource)
                : new GetsetLock(redis_raw(), "Lock:$resource", 30);
            while (($at = $hear()) !== null) {
                pass_time($at - wall_clock()); // all at the same moment
                $say($lock->try());
                $hear() && $lock->release();
                $say('done'); // a release in the next round would make a second holder there
            }
        });
        at_end($child->kill(...));
    }
    $rounds = [0, 0, 0];
    for ($round = 0; $round < ROUNDS; $round++) {
        $redis->cmd('SET', "Lock:$resource", time() - 5);
        $at = wall_clock() + 0.001;
        foreach ($processes as $process) {
            $process->say($at);
        }
        $held = array_map(fn (ForkedChild $process) => $process->hear(), $processes);
        $rounds[min(2, count(array_filter($held)))]++;
        foreach ($processes as $i => $process) {
            $process->say($held[$i]);
            $process->hear();
        }
    }
    foreach ($processes as $process) {
        $process->say(null);
        $process->result();
    }
    same(0, $rounds[2], "$new new, $old old: rounds with several holders");
    // After an old process' late GETSET no process holds the lock.
    holds($old > 0 ? $rounds[1] > ROUNDS / 2 : $rounds[1] === ROUNDS, "$new new, $old old: rounds with one holder", $rounds);
}
$redis->cmd('DEL', "Lock:$resource");
echo "done\n";
?>
--EXPECT--
done
