<?php
/* What a failover costs clients that hold locks and clients that acquire one: Redis behind three Sentinels, whose
 * master is killed.
 *
 *   fail-over.php LEASE:TIMES[:DOWN-AFTER]...
 *
 * LEASE is the lease time in seconds. The master is killed TIMES times. DOWN-AFTER is Sentinel's
 * down-after-milliseconds.
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/replicated.inc';
require_once __DIR__ . '/figures.php';

/** Processes that hold locks all the time, and the number of locks of each. */
const HOLDERS = [5, 10];
/** Processes that acquire and release a lock of their own again and again. */
const ASKERS = 4;
/** The default, in ms, until a Sentinel takes a silent master for dead. */
const DOWN_AFTER = 1000;

/** The closure returns true once this process was told to end, or its parent has ended. */
function told_to_end(): Closure
{
    $told = false;
    $parent = posix_getppid();
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, function () use (&$told) {
        $told = true;
    });
    return function () use (&$told, $parent) {
        return $told || posix_getppid() !== $parent;
    };
}

/** Holds locks until it is told to end; reports them, and whether isHeld() was always true for each. */
function hold(string $dsn, float $lease, int $number, callable $say, callable $hear): void
{
    $ends = told_to_end();
    $locks = new DistributedLock($dsn, 'holder:', $lease);
    $leases = $kept = [];
    for ($i = 0; $i < HOLDERS[1]; $i++) {
        $leases[] = $locks->acquire("$number-$i", 2 * $lease + 30);
        $kept[] = true;
    }
    $say('holds');
    while (!$ends()) {
        foreach ($leases as $i => $held) {
            $kept[$i] = $kept[$i] && $held->isHeld();
        }
        pause(0.01);
    }
    $say(array_map(fn ($held, $kept) => ["holder:$held->resource", $held->token, $kept], $leases, $kept));
    $hear(); // the parent looks for the locks on the server
    foreach ($leases as $i => $held) {
        $kept[$i] && $held->release();
    }
}

/**
 * Acquires and releases a lock until it is told to end; reports the time of its first lock, and of each first lock
 * after a long wait.
 * @return list<string> the exceptions of its calls
 */
function ask(string $dsn, float $lease, int $number, callable $say): array
{
    $ends = told_to_end();
    $locks = new DistributedLock($dsn, 'asker:', $lease);
    $errors = [];
    for ($last = null; !$ends(); pause(0.005)) {
        try {
            $held = $locks->acquire((string) $number, 2 * $lease + 30);
            $had = now();
            if ($last === null || $had - $last > 0.9) {
                $say($had);
            }
            $last = $had;
            $held->release();
        } catch (Dlock\DlockException $e) {
            $errors[] = get_class($e) . ": {$e->getMessage()}";
        }
    }
    return $errors;
}

/** When one of the Sentinels first named another master. */
function switched(SentinelSet $set, ReplicatedRedis $old): float
{
    $sentinels = array_map(fn ($sentinel) => $sentinel->raw(), $set->sentinels);
    wait_for(fn () => array_filter($sentinels, fn ($sentinel) =>
        $sentinel->cmd('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', SentinelSet::SERVICE)[1] !== (string) $old->port), 60, 'the Sentinels to switch');
    return now();
}

/** How many elections the Sentinels have held: each begins an epoch. */
function elections(SentinelSet $set): int
{
    $epochs = [0];
    foreach ($set->sentinels as $sentinel) {
        preg_match_all('/\+new-epoch (\d+)/', file_get_contents("$sentinel->dir/log"), $found);
        array_push($epochs, ...array_map('intval', $found[1]));
    }
    return max($epochs);
}

/**
 * Kills the master once.
 * @return array{switched: float, granted: float, paused: float, kept: int, held: int, elections: int, errors:
 * list<string>} times in s after the kill; `paused` after the switch
 */
function fail_over(SentinelSet $set, float $lease): array
{
    $limit = 2 * $lease + 60;
    $dsn = $set->dsn(['guard' => $lease]);
    $holders = $askers = [];
    for ($i = 0; $i < HOLDERS[0]; $i++) {
        $holders[] = fork_child(fn ($say, $hear) => hold($dsn, $lease, $i, $say, $hear));
    }
    for ($i = 0; $i < ASKERS; $i++) {
        $askers[] = fork_child(fn ($say) => ask($dsn, $lease, $i, $say));
    }
    try {
        foreach ([...$holders, ...$askers] as $child) {
            $child->hear($limit); // the child has acquired a lock, so the epoch is settled
        }
        pause(1 + $lease / 3 * random_int(0, 1000) / 1000); // at a random time between two renewals
        $old = $set->master();
        $elections = elections($set);
        $killed = now();
        $old->kill();
        $switched = switched($set, $old);
        $granted = min(array_map(fn ($asker) => $asker->hear($limit), $askers));
        pause(1);
        $elections = elections($set) - $elections;
        $errors = [];
        foreach ($askers as $asker) {
            $asker->signal(SIGTERM);
            array_push($errors, ...$asker->result());
        }
        $kept = 0;
        $new = $set->master()->raw();
        foreach ($holders as $holder) {
            $holder->signal(SIGTERM);
            foreach ($holder->hear() as [$key, $token, $without_interruption]) {
                $kept += $without_interruption && $new->cmd('GET', $key) === $token ? 1 : 0;
            }
            $holder->say('end');
            $holder->result();
        }
    } finally {
        foreach ([...$holders, ...$askers] as $child) {
            $child->kill();
        }
    }
    $old->restart();
    $set->waitUntilWell(60);
    return ['switched' => $switched - $killed, 'granted' => $granted - $killed, 'paused' => $granted - $switched,
        'kept' => $kept, 'held' => HOLDERS[0] * HOLDERS[1], 'elections' => $elections, 'errors' => $errors];
}

/** The median of the times, their least and their greatest. */
function summary(array $times): string
{
    return sprintf('%.1f (%.1f–%.1f)', median($times), min($times), max($times));
}

$table = '';
foreach (array_slice($argv, 1) as $words) {
    [$lease, $times, $down_after] = [...array_map('intval', explode(':', $words)), DOWN_AFTER];
    printf("lease time and guard %d s, Sentinels with down-after-milliseconds %d, %d processes hold %d locks each\n", $lease, $down_after, ...HOLDERS);
    $set = new SentinelSet(downAfter: $down_after, hasty: false);
    $runs = [];
    for ($i = 0; $i < $times; $i++) {
        $runs[] = $run = fail_over($set, (float) $lease);
        printf("  %d: switched after %.2f s (elections: %d), first new lock after %.2f s, which is %.2f s after the switch; %d of %d locks kept\n",
            $i + 1, $run['switched'], $run['elections'], $run['granted'], $run['paused'], $run['kept'], $run['held']);
        foreach ($run['errors'] as $error) {
            echo "     $error\n";
        }
    }
    unset($set);
    $kept = array_sum(array_column($runs, 'kept'));
    $held = array_sum(array_column($runs, 'held'));
    $table .= sprintf("| %d s | %d ms | %d | %s | %s | %s | %d of %d |\n", $lease, $down_after, $times, ...array_map(fn ($figure) => summary(array_column($runs, $figure)), ['switched', 'granted', 'paused']), ...[$kept, $held]);
}
echo "\n| lease time | down-after | fail-overs | a Sentinel switches after, s | first new lock after, s | that is after the switch, s | locks kept |\n|---|---|---|---|---|---|---|\n$table";
