<?php
/* What processes use: memory, descriptors, threads. */
declare(strict_types=1);

/** @return array{pss: int, private: int} KiB */
function memory(int $pid): array
{
    preg_match_all('/^(Pss|Private_Clean|Private_Dirty): +(\d+) kB/m', (string) file_get_contents("/proc/$pid/smaps_rollup"), $found);
    $kib = array_combine($found[1], array_map('intval', $found[2]));
    return ['pss' => $kib['Pss'], 'private' => $kib['Private_Clean'] + $kib['Private_Dirty']];
}

/** @param list<int> $pids  @return array{pss: float, private: float} medians, in MiB */
function median_memory(array $pids): array
{
    $each = array_map(memory(...), $pids);
    return array_map(fn (string $what) => median(array_column($each, $what)) / 1024, ['pss' => 'pss', 'private' => 'private']);
}

/** @param list<int> $pids  @return array<int, array{threads: int, descriptors: int}> by pid */
function belongings_of(array $pids): array
{
    sort($pids);
    return array_combine($pids, array_map(belongings(...), $pids));
}

/** "3", or "3 to 5" if they differ. @param list<int> $values */
function range_of(array $values): string
{
    return min($values) === max($values) ? (string) min($values) : min($values) . ' to ' . max($values);
}

/** Seconds of CPU that the processes have used so far, with all of their threads. @param list<int> $pids */
function cpu_of(array $pids): float
{
    $nanoseconds = 0;
    foreach ($pids as $pid) {
        foreach (glob("/proc/$pid/task/*/schedstat") as $file) {
            $nanoseconds += (int) strtok((string) @file_get_contents($file), ' ');
        }
    }
    return $nanoseconds / 1e9;
}
