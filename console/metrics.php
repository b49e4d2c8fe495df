<?php
declare(strict_types=1);

namespace Dlock\Console;

/** The most queues with samples of their own. */
const MOST_QUEUES = 100;

/**
 * The value of a label. Bytes that are not UTF-8 would make the whole text unreadable, and control characters would
 * disturb a terminal.
 */
function label_value(string $text): string
{
    return addcslashes(printable($text), '\\"');
}

/** @param array<string, float> $samples  by their labels, "" without any  @return list<string> */
function gauge(string $name, string $help, array $samples): array
{
    $lines = $samples ? ["# TYPE $name gauge", "# HELP $name $help"] : [];
    foreach ($samples as $labels => $value) {
        $lines[] = $name . ($labels === '' ? '' : "{{$labels}}") . ' ' . round($value, 3);
    }
    return $lines;
}

/** @param list<\Dlock\Inspection> $locks  @return list<string> */
function metrics_of_locks(array $locks): array
{
    $queues = array_filter($locks, fn (\Dlock\Inspection $lock) => $lock->waiting > 0);
    usort($queues, fn (\Dlock\Inspection $a, \Dlock\Inspection $b) => $b->waiting <=> $a->waiting);
    $lengths = $waits = [];
    foreach (array_slice($queues, 0, MOST_QUEUES) as $lock) {
        $label = 'resource="' . label_value($lock->resource) . '"';
        $lengths[$label] = $lock->waiting;
        $waits[$label] = longest_wait($lock);
    }
    $ages = array_map(fn (\Dlock\Inspection $lock) => $lock->holders && ($since = held_since($lock->holders[0])) ? $lock->at - $since : 0.0, $locks);
    return [
        ...gauge('dlock_server_waiting', 'Those that wait for a lock.', ['' => array_sum(array_map(fn (\Dlock\Inspection $lock) => $lock->waiting, $queues))]),
        ...gauge('dlock_server_oldest_hold_seconds', 'For how long the oldest lock that is listed has been held.', ['' => max([0.0, ...$ages])]),
        ...gauge('dlock_server_queue_length', 'Those that wait for this lock; of the longest queues.', $lengths),
        ...gauge('dlock_server_queue_wait_seconds', 'For how long the first of them has waited.', array_filter($waits, is_float(...))),
    ];
}

/** @param list<string> $names  @return list<string> */
function metrics_of_stocks(\Dlock\Stock $stock, array $names): array
{
    $samples = [];
    foreach ($names as $name) {
        $counts = $stock->counts($name);
        foreach (['available', 'reserved', 'sold', 'waiting'] as $what) {
            $samples[$what]['product="' . label_value($name) . '"'] = $counts[$what];
        }
    }
    return [
        ...gauge('dlock_stock_available', 'Units that can be reserved.', $samples['available'] ?? []),
        ...gauge('dlock_stock_reserved', 'Units that are reserved.', $samples['reserved'] ?? []),
        ...gauge('dlock_stock_sold', 'Units that are sold.', $samples['sold'] ?? []),
        ...gauge('dlock_stock_waiting', 'Requests that wait for units.', $samples['waiting'] ?? []),
    ];
}

function print_metrics(Arguments $arguments): int
{
    if ($arguments->names) {
        throw new Misuse('metrics takes no name; --stock=NAME does');
    }
    $lines = metrics_of_locks($arguments->locks()->inspectAll(1000));
    if ($arguments->stocks) {
        $stock = new \Dlock\Stock($arguments->server(), $arguments->text('stock-prefix', 'Stock:'));
        array_push($lines, ...metrics_of_stocks($stock, $arguments->stocks));
    }
    echo implode("\n", [...$lines, '# EOF']), "\n";
    return 0;
}
