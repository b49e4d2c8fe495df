<?php
declare(strict_types=1);

require_once __DIR__ . '/properties.php';

/** @param array<string, list<string>> $found */
function print_violations(array $found, int $most = 5): void
{
    foreach ($found as $property => $violations) {
        echo $violations ? 'FAIL' : 'PASS', " $property", $violations ? ' (' . count($violations) . ')' : '', "\n";
        foreach (array_slice($violations, 0, $most) as $violation) {
            echo "     $violation\n";
        }
    }
}

function print_trade(History $history, callable $row): void
{
    $done = [];
    foreach ($history->trade as $attempt) {
        $attempt->answered !== null && $attempt->error === null && $done[$attempt->what] = ($done[$attempt->what] ?? 0) + 1;
    }
    foreach ($done as $what => $count) {
        $row("  $what, answered", $count);
    }
    foreach ($history->stocks as $article => $stock) {
        $row("units of $article: put in, sold", "$stock[stock], " . array_sum($stock['sold']));
    }
}

/** @param array<string, list<string>> $found */
function print_figures(string $class, int $seed, float $seconds, History $history, array $found): void
{
    $held = array_filter($history->attempts, fn (Attempt $attempt) => $attempt->held);
    $errors = [];
    $latest = 0;
    foreach ($history->attempts as $attempt) {
        if ($attempt->error !== null) {
            $kind = explode(':', $attempt->error)[0];
            $errors[$kind] = ($errors[$kind] ?? 0) + 1;
        }
        $attempt->answered === null || $latest = max($latest, excess($history, $attempt));
    }
    $row = fn (string $name, string|int $value) => printf("  %-46s %s\n", $name, $value);
    echo "$class\n";
    $row('seed', $seed);
    $row('seconds under faults', sprintf('%.0f', $seconds));
    $row('operations', count($history->attempts));
    $row('acquisitions', count($held));
    $row('looks at leases', $history->looks);
    if ($history->trade === []) {
        $row('updates of the record', count($history->accepted));
        $row('leases taken over by their handles', $history->attached);
        $row('handles that worked no more', $history->attachedTwice);
        Setting::hasSets($class) && $row('acquisitions of several locks', count(array_filter($held, fn (Attempt $attempt) => $attempt->pieces !== [])));
        $row('locks that were broken', $history->done['broke']);
        Setting::hasUpgrades($class) && $row('readers that became writers, writers that became readers', "{$history->done['upgrade']}, {$history->done['downgrade']}");
    }
    $history->audits && $row('looks at the books', $history->audits);
    print_trade($history, $row);
    ksort($errors);
    foreach ($errors as $kind => $count) {
        $row("  $kind", $count);
    }
    $row('latest answer after a timeout', ms($latest));
    $row('clients that had to be told twice to end', count($history->reminded));
    foreach ($history->probes as $probe) {
        $longest[$probe['what']] = max($longest[$probe['what']] ?? 0, $probe['t1'] - $probe['t0']);
    }
    foreach ($longest ?? [] as $what => $ns) {
        $row("lock free, $what, at most after", ms($ns));
    }
    foreach ($history->contests as $contest) {
        $turns = array_map('count', turns($history, $contest));
        $row("turns of each, $contest[r]", min($turns) . ' to ' . max($turns));
    }
    Setting::hasReplicas($class) && $row('fail-overs', $history->failOvers);
    $faults = array_count_values(array_column($history->faults, 'kind'));
    $row('faults', array_sum($faults));
    ksort($faults);
    foreach ($faults as $kind => $count) {
        $row("  $kind", $count);
    }
    $row('violations', array_sum(array_map('count', $found)));
}
