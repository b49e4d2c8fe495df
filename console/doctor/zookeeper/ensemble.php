<?php
/* Whether the servers belong together, and how many they are. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(Ensemble::class, examine_ensemble(...), ['even-servers', 'few-servers', 'not-one-ensemble', 'one-of-many', 'standalone', 'unseen']);

function examine_ensemble(Ensemble $ensemble): void
{
    $report = $ensemble->plan->report;
    $named = count($ensemble->servers);
    $good = $ensemble->usable;
    $all = 'the ensemble';
    $told = array_unique(array_filter(array_map(fn (ZooKeeperServer $server) => $server->ensemble, $good), 'is_string'));
    if (count($told) > 1 || ($named > 1 && count($good) > 1 && in_array('', $told, true))) {
        $labels = implode(', ', array_map(fn (ZooKeeperServer $server) => $server->label, $good));
        $report->add(Severity::Problem, 'not-one-ensemble', $labels,
            'do not belong to one ensemble.',
            'Clients choose one of them by chance: two that chose differently hold the same lock.',
            'Name the servers of one ensemble.');
    } elseif ($told) {
        $votes = fn (string $line) => $line !== '' && !str_contains($line, ':observer');
        count_members(count(array_filter(explode("\n", current($told)), $votes)), $named, $report);
    } elseif ($good) {
        $report->add(Severity::Note, 'unseen', $all, 'could not be seen: its members.', 'Whether the servers named are an ensemble, and '
            . 'of a good size, stays unknown.', 'Let everybody read /zookeeper/config, as is usual.');
    }
}

/** @param int $n voting members  @param int $named how many servers the specification has */
function count_members(int $n, int $named, Report $report): void
{
    $all = 'the ensemble';
    if ($n <= 1) {
        $report->add(Severity::Note, 'standalone', $all, 'is a single server.',
            'While it is down, no lock can be acquired; locks are kept on its disk.', 'Three continue while one is down.');
    } elseif ($n === 2) {
        $report->add(Severity::Warning, 'few-servers', $all, 'has just two voting servers.',
            'Both have to live, so it is down more often than a single one.', 'Use three or five.');
    } elseif ($n % 2 === 0) {
        $report->add(Severity::Note, 'even-servers', $all, "has $n voting servers.",
            'As many of them may be down as of ' . ($n - 1) . '.',
            'One less costs less, one more allows for one more.');
    }
    if ($named === 1 && $n > 1) {
        $report->add(Severity::Warning, 'one-of-many', $all, "has $n servers, of which the specification names one.",
            'While that one is down, no lock can be acquired, although the others live.',
            'Name all of them.');
    }
}
