<?php
/* What makes a majority of servers: how many, where, and none of them twice. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisSet::class, examine_set(...), ['even-servers', 'few-servers', 'one-host', 'same-server']);

function examine_set(RedisSet $set): void
{
    if ($set->plan->class !== 'RedLock') {
        return;
    }
    $report = $set->plan->report;
    $n = count($set->servers);
    $all = 'all servers';
    $runs = [];
    foreach ($set->servers as $server) {
        if (isset($server->info['run_id'])) {
            $runs[$server->info['run_id']][] = $server->label;
        }
    }
    foreach ($runs as $labels) {
        if (count($labels) > 1) {
            $report->add(Severity::Problem, 'same-server', implode(', ', $labels), 'are one and the same server.',
                'It has more than one vote, so that what looks like a majority is none.', 'Name each server once.', unusable: true);
        }
    }
    if ($n <= 2) {
        $report->add(Severity::Warning, 'few-servers', $all, $n === 1 ? 'there is just one.' : 'there are just two.', $n === 1
            ? 'RedLock over one server goes down with it.' : 'Both have to answer, so locks fail more often than with one.',
                'Use three or five, or DistributedLock with one.');
    } elseif ($n % 2 === 0) {
        $report->add(Severity::Note, 'even-servers', $all, "there are $n, of which " . ($n - $set->quorum) . ' may be down.',
            'As many may be down of ' . ($n - 1) . '.', 'One less costs less, one more allows for one more.');
    }
    $hosts = array_filter(array_map(fn (RedisServer $server) => $server->spec['host'], $set->servers));
    foreach (array_count_values($hosts) as $host => $there) {
        if ($n > 2 && $there >= $set->quorum) {
            $report->add(Severity::Warning, 'one-host', $all, "$there of $n are on one host, $host.",
                'They go down, and lose their data, together.',
                'Put each on a machine of its own.');
        }
    }
}
