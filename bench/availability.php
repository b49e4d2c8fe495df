<?php
/* How long clients cannot acquire a lock after each kind of trouble of a Redis with replicas. Eight processes acquire a
 * lock in turns. The longest time without the lock counts from the switch to another master, or from the beginning.
 *
 *   availability.php TIMES [EVENT…]
 *
 * Events: nothing kill stop planned failover cluster replica crash-loop backup upgrade often
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/replicated.inc';
require_once __DIR__ . '/../tests/inc/seen.inc';
require_once __DIR__ . '/figures.php';

const GUARD = 10.0, ASKERS = 8;
/** Failovers that follow each other: s between two, and their number. */
const EVERY = 15.0, OFTEN = 8;

/** Acquires and releases the lock until the file $ends exists; appends the time of each acquisition to $file. */
function take_turns(string $dsn, string $file, string $ends): void
{
    $locks = new DistributedLock($dsn, ttl: GUARD);
    while (!file_exists($ends)) {
        try {
            $lease = $locks->acquire('turns', 60);
            file_put_contents($file, sprintf("%.4f\n", microtime(true)), FILE_APPEND | LOCK_EX);
            pause(0.005);
            $lease->release();
        } catch (Dlock\DlockException) {
            pause(0.02);
        }
    }
}

/** Between two steps, an administrator waits until the nodes have been up for the guard. */
function rest(float $seconds = GUARD + 2): void
{
    pause($seconds);
}

/** Waits until the Sentinels name another master; returns when. */
function switched(SentinelSet $set, ReplicatedRedis $old): float
{
    $set->waitForFailOver($old, 60);
    return microtime(true);
}

/**
 * Kills the master again and again.
 * @return list<float> when, and the end. Each interval has its own time without the lock: all of it, if no process
 * acquired it.
 */
function kill_often(SentinelSet $set): array
{
    $killed = [];
    for ($begun = microtime(true), $i = 0; $i < OFTEN; $i++) {
        pause(max(0, $begun + $i * EVERY - microtime(true)));
        $old = $set->master();
        $killed[] = microtime(true);
        $old->kill();
        pause(7);
        $old->restart();
    }
    pause(max(0, end($killed) + EVERY - microtime(true)));
    return [...$killed, microtime(true)];
}

/**
 * @return array<string, array{string, Closure}> the setup, and what is done. The closure returns the time from which
 * the wait counts, or all bounds of intervals.
 */
function events(): array
{
    $planned = function (SentinelSet $set): float {
        $old = $set->master();
        $log = temporary_directory() . '/switch';
        $switch = start_dlock(['--server=' . $set->dsn(['guard' => GUARD]), '--timeout=120', 'switch'], $log);
        $at = switched($set, $old);
        proc_close($switch) === 0 || throw new RuntimeException(file_get_contents($log));
        return $at;
    };
    $replica = fn (SentinelSet $set) => $set->replicas()[0];
    return [
        'nothing' => ['sentinel', fn () => microtime(true)],
        'kill' => ['sentinel', function (SentinelSet $set): float {
            $old = $set->master();
            $old->kill();
            $at = switched($set, $old);
            pause(3);
            $old->restart();
            return $at;
        }],
        'stop' => ['sentinel', function (SentinelSet $set): float {
            $old = $set->master();
            $old->pause();
            $at = switched($set, $old);
            pause(5);
            $old->resume();
            return $at;
        }],
        'planned' => ['sentinel', $planned],
        'failover' => ['sentinel', function (SentinelSet $set): float {
            $old = $set->master();
            $set->sentinels[0]->raw()->cmd('SENTINEL', 'FAILOVER', SentinelSet::SERVICE);
            return switched($set, $old);
        }],
        'cluster' => ['cluster', function (ClusterSet $set): float {
            $old = $set->masterOf(key_slot('Lock:turns'));
            $set->failOver($old);
            return microtime(true);
        }],
        'replica' => ['sentinel', function (SentinelSet $set) use ($replica): float {
            $at = microtime(true);
            $one = $replica($set);
            $one->kill();
            $one->restart();
            return $at;
        }],
        'crash-loop' => ['sentinel', function (SentinelSet $set) use ($replica): float {
            $at = microtime(true);
            $one = $replica($set);
            for ($i = 0; $i < 6; $i++) {
                $one->kill();
                pause(1);
                $one->restart();
                pause(3);
            }
            return $at;
        }],
        'backup' => ['sentinel', function (SentinelSet $set): float {
            $at = microtime(true);
            exec('redis-cli -p ' . $set->master()->port . ' --rdb /dev/null 2>&1');
            return $at;
        }],
        'upgrade' => ['sentinel', function (SentinelSet $set) use ($planned): float {
            $at = microtime(true);
            foreach ($set->replicas() as $one) {
                $one->kill();
                $one->restart();
                rest();
            }
            $old = $set->master();
            $planned($set);
            pause(3);
            $old->kill();
            $old->restart();
            return $at;
        }],
        'often' => ['sentinel', kill_often(...)],
    ];
}

/**
 * The longest time without the lock between $from and $until. The rest after the last acquisition counts if it is
 * longer than 1 s.
 * @param list<float> $times
 */
function longest_gap(array $times, float $from, float $until): float
{
    sort($times);
    $gap = 0.0;
    $last = $from;
    foreach ($times as $time) {
        if ($time > $from && $time < $until) {
            $gap = max($gap, $time - $last);
            $last = $time;
        }
    }
    return max($gap, $until - $last > 1 ? $until - $last : 0.0);
}

function measure(string $event, int $times): array
{
    [$setup, $do] = events()[$event];
    $set = $setup === 'cluster' ? new ClusterSet() : new SentinelSet(downAfter: 2000);
    $dsn = $set->dsn(['guard' => GUARD]);
    $gaps = [];
    for ($i = 0; $i < $times; $i++) {
        (new DistributedLock($dsn, ttl: GUARD))->acquire('turns', 90)->release();
        rest();
        $file = temporary_directory() . "/times$i";
        touch($file);
        $ends = "$file.ends";
        $askers = [];
        for ($k = 0; $k < ASKERS; $k++) {
            $askers[] = $asker = fork_child(fn () => take_turns($dsn, $file, $ends));
            at_end($asker->kill(...));
        }
        pause(2);
        $bounds = (array) $do($set);
        pause(GUARD + 4);
        count($bounds) > 1 || $bounds[] = microtime(true);
        touch($ends);
        array_map(fn ($child) => $child->result(90), $askers);
        $had = array_map('floatval', file($file));
        for ($k = 1; $k < count($bounds); $k++) {
            $gaps[] = longest_gap($had, $bounds[$k - 1], $bounds[$k]);
        }
        $set->waitUntilWell(60);
    }
    return $gaps;
}

$events = array_slice($argv, 2) ?: array_keys(events());
printf("%-12s %5s %8s %8s   (s without the lock after the switch, or from the beginning; guard %d s)\n", 'event', 'times', 'median', 'longest', GUARD);
foreach ($events as $event) {
    $gaps = measure($event, (int) ($argv[1] ?? 3));
    printf("%-12s %5d %8.2f %8.2f\n", $event, count($gaps), median($gaps), max($gaps));
}
