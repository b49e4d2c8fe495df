<?php
/* Strands on one lock: sections of 2 ms, one after the other. A ticker of 1 ms runs beside them; its longest delay is
 * shown.
 *
 *   php -d extension=…/dlock.so bench/strands.php [SERVER] [STRANDS] [RUNS]
 *
 * SERVER is redis://…, memory://, memcached://…, or ZooKeeper's hosts. The last line has the medians of all runs. On a
 * busy machine, other processes delay the ticker, too. */
declare(strict_types=1);

require __DIR__ . '/../tests/inc/strands.inc';

$server = $argv[1] ?? 'redis://127.0.0.1:6379';
[$count, $runs] = [(int) ($argv[2] ?? 20), (int) ($argv[3] ?? 10)];
$locks = str_contains($server, '://') ? new DistributedLock($server) : new ZkLock($server);

/** @return array{float, float, float} ms in all, the ticker's longest delay in ms, suspensions for each wait */
function one_run(Dlock\LockManager $locks, int $count): array
{
    $left = $count;
    $late = 0.0;
    Strands::$suspensions = 0;
    Strands::spawn(function () use (&$left, &$late) {
        while ($left > 0) {
            $start = microtime(true);
            Strands::pause(0.001);
            $late = max($late, microtime(true) - $start - 0.001);
        }
    });
    for ($i = 0; $i < $count; $i++) {
        Strands::spawn(function () use ($locks, &$left) {
            $locks->synchronized('bench-strands', fn () => Strands::pause(0.002), timeout: 600);
            $left--;
        });
    }
    $start = microtime(true);
    Strands::run();
    return [(microtime(true) - $start) * 1000, $late * 1000, Strands::$suspensions / $count];
}

Strands::install();
one_run($locks, 2); // connects
$all = [];
for ($i = 0; $i < $runs; $i++) {
    $all[] = $one = one_run($locks, $count);
    vprintf("%8.1f ms   late by %6.2f ms   %.1f suspensions each\n", $one);
}
vprintf("%8.1f ms   late by %6.2f ms   %.1f suspensions each: medians of $runs runs of $count strands\n",
    array_map(fn (int $of) => median(array_column($all, $of)), [0, 1, 2]));
