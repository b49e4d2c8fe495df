--TEST--
Several locks at once, whose holders and waiters are killed and stopped: never two holders, rising fencing tokens, and nothing is left
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

/* scripts/test-all.sh has more of them. */
define('KILLS', (int) (getenv('DLOCK_SEVERAL_KILLS') ?: 24));
define('STOPS', intdiv(KILLS * 5, 12));
const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'], WORKERS = 8;

$server = redis_private();
$record = redis_private();

/* Keeps the largest fencing token of those who have had the lock, so that one that comes late changes nothing. */
const ENTER = "local last = tonumber(redis.call('GET', KEYS[1]) or 0) if last < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end return last";

/* Takes one to four of them again and again. Who finds another's fencing token there afterwards, and still holds the lock,
   has not been alone. */
$work = function () use ($server, $record): void {
    mt_srand(getmypid());
    $locks = new DistributedLock($server->dsn(), ttl: 0.5, renew: true);
    $redis = $record->raw();
    while (true) {
        $wanted = (array) array_intersect_key(NAMES, array_flip((array) array_rand(NAMES, [1, 1, 2, 3, 4][mt_rand(0, 4)])));
        $lease = $locks->tryAcquire(array_values($wanted), mt_rand(1, 20) / 2);
        if ($lease === null) {
            continue;
        }
        $last = [];
        foreach ($lease->resources as $name) {
            $last[] = $redis->cmd('EVAL', ENTER, '1', "in:$name", (string) $lease->fencingToken);
        }
        pause(mt_rand(0, 8) / 1000);
        $beside = array_filter($lease->resources, fn (string $name) => (int) $redis->cmd('GET', "in:$name") !== $lease->fencingToken);
        if ($lease->isHeld()) {
            $redis->cmd('INCR', 'sections');
            $beside && $redis->cmd('INCR', 'beside');
            max($last) >= $lease->fencingToken && $redis->cmd('INCR', 'fell');
        }
        $lease->release();
    }
};

$redis = $record->raw();
$sections = fn () => (int) $redis->cmd('GET', 'sections');
$workers = [];
at_end(function () use (&$workers) {
    array_map(fn ($worker) => $worker->kill(), $workers);
});
$start = function (int $i) use (&$workers, $work) {
    $workers[$i] = fork_child($work);
};
array_map($start, range(0, WORKERS - 1));
mt_srand($seed = getmypid());
$stopped = [];
for ($kills = $stops = 0; $kills < KILLS || $stops < STOPS;) {
    $done = $sections();
    wait_for(fn () => $sections() >= $done + 4, 60, 'the next sections');
    $i = mt_rand(0, WORKERS - 1);
    if ($kills < KILLS && mt_rand(0, 16) < 12 || $stops === STOPS) {
        unset($stopped[$i]);
        $workers[$i]->kill();
        $start($i);
        $kills++;
    } else {
        $workers[$i]->signal(SIGSTOP);
        $stopped[$i] = true;
        $stops++;
    }
    if (count($stopped) > 2) { // the one that was stopped first goes on
        $workers[array_key_first($stopped)]->signal(SIGCONT);
        unset($stopped[array_key_first($stopped)]);
    }
}
foreach ($workers as $i => $worker) {
    $worker->signal(SIGCONT);
}
$done = $sections();
wait_for(fn () => $sections() >= $done + 50, 60, 'those that were stopped to go on');
array_map(fn ($worker) => $worker->kill(), $workers);

same([null, null], [$redis->cmd('GET', 'beside'), $redis->cmd('GET', 'fell')], "seed $seed: two holders, tokens that did not rise");
$locks = new DistributedLock($server->dsn(), ttl: 60);
wait_for(function () use ($locks, $server) {
    same(true, $locks->acquire(NAMES, timeout: 60)->release(), 'all of them are to be had');
    return array_diff($server->raw()->cmd('KEYS', '*'), ['dlock:fence', 'dlock:seen']) === [];
}, 60, 'nothing to be left');
echo "done\n";
?>
--EXPECT--
done
