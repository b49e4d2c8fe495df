--TEST--
RedLock::lock() whose lease ends before it returns gives an array without validity, and counts a loss
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

// On one CPU all processes take turns. So now and then one stands still between the servers' answers and the return.
preg_match('/^Cpus_allowed_list:\s+(\d+)/m', file_get_contents('/proc/' . getmypid() . '/status'), $found);
exec("taskset -cp $found[1] " . getmypid());
$seen = 0;
for ($start = now(); $seen < 5 && now() - $start < 60;) {
    $results = fork_run(12, function (int $i) {
        $red = new RedLock(redis_servers(3), retryDelay: 1, retryCount: 5, onLoss: 'throw');
        $red->isLocked('x'); // connects
        try {
            $lock = @$red->lock(unique("$i"), 3 << ($i % 6));
            $losses = Dlock\stats()['losses'];
            $lock && $red->unlock($lock);
        } catch (Dlock\LeaseLostException) {
        }
        return [$lock ?? null, $losses ?? null];
    });
    foreach ($results as [$lock, $losses]) {
        if ($losses !== null && is_array($lock) && $lock['validity'] === 0.0) {
            $seen++;
            same(1, $losses, 'losses');
            same([1, true], [preg_match('/^[0-9a-f]{44}$/', $lock['token']), $lock['fencingToken'] > 0], 'the tokens');
        }
    }
}
holds($seen > 0, 'a process has stood still in time');
echo "done\n";
?>
--EXPECT--
done
