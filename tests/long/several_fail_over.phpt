--TEST--
Several locks at once, whose holders and waiters are killed and stopped while their masters are killed and replaced: never two holders
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
require __DIR__ . '/../inc/replicated.inc';
require __DIR__ . '/../inc/several_killed.inc';

$failovers = (int) (getenv('DLOCK_SEVERAL_FAILOVERS') ?: 6);
foreach (['Sentinels' => new SentinelSet(), 'cluster' => new ClusterSet()] as $what => $set) {
    $master = fn () => $what === 'cluster' ? $set->masterOf(key_slot('Lock:{row}a')) : $set->master();
    $done = 0;
    kill_several(
        8 * $failovers,
        fn () => new DistributedLock($set->dsn(['guard' => 1]), ttl: 1, renew: true),
        fn () => $master()->raw(),
        function (int $n) use ($set, $what, $master, $failovers, &$done) {
            if ($n % 10 !== 0 || $done === $failovers) {
                return;
            }
            $old = $master();
            if ($done++ % 2 === 0) {
                $old->kill();
                wait_for(fn () => $master() !== $old, 120, 'another master');
                $old->restart();
            } else {
                $what === 'cluster' ? $set->failOver($old) : $set->failOver();
            }
            $set->waitUntilWell(120);
        },
    );
    same($failovers, $done, "$what: failovers");
}
echo "done\n";
?>
--EXPECT--
done
