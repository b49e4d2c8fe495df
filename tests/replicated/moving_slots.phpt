--TEST--
In a cluster whose slots are being moved no lock is lost or has two holders, and no wait exceeds its limit
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

/* scripts/test-all.sh moves more of them. */
$locks = (int) (getenv('DLOCK_MOVING_LOCKS') ?: 200);
define('PROCESSES', max(4, intdiv($locks, 600)));
const NAMES = 40, LIMIT = 4.0, MOVES = 10;

$set = new ClusterSet(timeout: 60_000);
$names = array_map(fn (int $i) => "sku-$i", range(1, NAMES));
$slots = array_map(fn (string $name) => key_slot("Lock:$name"), $names);
$record = redis_private();
$lock = new DistributedLock($set->dsn(['guard' => 0.6, 'replicas' => 1]), ttl: 0.5, renew: true);
foreach ($names as $name) {
    $lock->acquire($name, timeout: 10.0)->release();
}
$mover = $set->mover($slots, 0.02, $record);

/* Each process locks any name, and is alone with its record. */
$work = function () use ($set, $names, $locks, $record): array {
    mt_srand(getmypid());
    $lock = new DistributedLock($set->dsn(['guard' => 0.6, 'replicas' => 1]), ttl: 0.5, renew: true);
    $redis = $record->raw();
    $count = ['had' => 0, 'not' => 0, 'lost' => 0, 'beside' => 0, 'fell' => 0, 'longest' => 0.0];
    while ($count['had'] < $locks / PROCESSES || $redis->cmd('GET', 'moves') < MOVES) {
        $name = $names[array_rand($names)];
        $begin = now();
        try {
            $lease = $lock->acquire($name, timeout: LIMIT);
        } catch (Dlock\AcquireTimeoutException | Dlock\ConnectionException) {
            $lease = null;
        }
        $count['longest'] = max($count['longest'], now() - $begin);
        if ($lease === null) {
            $count['not']++;
            continue;
        }
        $count['had']++;
        $ends = now() + $lease->remaining();
        $alone = $redis->cmd('SET', "in:$name", (string) getmypid(), 'NX', 'PX', 5000);
        $last = (int) $redis->cmd('GETSET', "token:$name", (string) $lease->fencingToken);
        pause(mt_rand(0, 3) / 1000);
        if (!$lease->isHeld()) {
            $count['lost'] += (int) (now() < $ends); // after its end the loss is right
        } elseif ($alone === null) {
            $count['beside']++;
        } elseif ($last >= $lease->fencingToken) {
            $count['fell']++;
        }
        $redis->cmd('DEL', "in:$name");
        try {
            $lease->release();
        } catch (Dlock\ConnectionException) {
            // the outcome is unknown; the key ends with its lease time
        }
    }
    return $count;
};
$children = array_map(fn () => fork_child($work), range(1, PROCESSES));
$counts = array_map(fn ($child) => $child->result(3000), $children);
$sum = fn (string $what) => array_sum(array_column($counts, $what));
$mover->signal(SIGTERM);
$mover->result();
same([0, 0, 0], [$sum('lost'), $sum('beside'), $sum('fell')], 'lost, with two holders, tokens that fell');
holds(max(array_column($counts, 'longest')) < LIMIT + SOON, 'the longest wait', $counts);
echo "done\n";
?>
--EXPECT--
done
