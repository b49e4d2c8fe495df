<?php
declare(strict_types=1);

namespace Dlock\Console;

/** Since when it holds, or has asked if that is unknown. */
function held_since(\Dlock\Party $holder): ?float
{
    return $holder->heldSince ?? $holder->askedAt;
}

/** The longest wait of all waiters for which it is known. */
function longest_wait(\Dlock\Inspection $lock): ?float
{
    $since = array_filter(array_map(fn (\Dlock\Party $waiter) => $waiter->askedAt, $lock->waiters));
    return $since ? $lock->at - min($since) : null;
}

/** @param list<\Dlock\Inspection> $locks  @return list<string> */
function lines_of(array $locks): array
{
    $rows = [['RESOURCE', 'HOLDER', 'HELD FOR', 'LEFT', 'WAITING', 'LONGEST WAIT']];
    foreach ($locks as $lock) {
        $holder = $lock->holders[0] ?? null;
        $more = count($lock->holders) > 1 ? ' and ' . count($lock->holders) - 1 . ' more' : '';
        $since = $holder ? held_since($holder) : null;
        $rows[] = [shortened(printable($lock->resource), 40), $holder ? shortened(who($holder) . $more, 50) : '-',
            span($since === null ? null : $lock->at - $since), span($holder?->remaining), (string) $lock->waiting, span(longest_wait($lock))];
    }
    return table($rows);
}

const MOST_LISTED = 1000;

/** Finds locks of a RedLock on each of its servers, and then inspects them on all. @return list<\Dlock\Inspection> */
function all_locks(Arguments $arguments, bool &$is_full): array
{
    $locks = $arguments->locks();
    if (!$locks instanceof \RedLock) {
        return \Dlock\list_all($locks);
    }
    $names = [];
    foreach ($arguments->each_server() as $server) {
        $names = [...$names, ...$found = array_column(\Dlock\list_all($server), 'resource')];
        $is_full = $is_full || count($found) >= MOST_LISTED;
    }
    $all = array_map(fn (string $name) => $locks->inspect($name, 1), array_slice(array_unique($names), 0, MOST_LISTED));
    return array_values(array_filter($all, fn (\Dlock\Inspection $lock) => $lock->holders || $lock->waiting));
}

function list_locks(Arguments $arguments): int
{
    if ($arguments->names) {
        throw new Misuse('ls takes no name; "show" does');
    }
    $is_full = false;
    $locks = $arguments->has('all') ? all_locks($arguments, $is_full) : $arguments->locks()->inspectAll(MOST_LISTED);
    echo $arguments->has('json') ? json($locks) : implode("\n", lines_of($locks)), "\n";
    if (!$locks) {
        $more = $arguments->has('all') ? '' : '--all finds more, and ';
        fwrite(STDERR, 'dlock: no lock is listed of ' . $arguments->kind() . "; $more--class and --prefix name others\n");
    }
    if ($is_full || count($locks) >= MOST_LISTED) {
        fwrite(STDERR, 'dlock: it lists no more than ' . MOST_LISTED . " locks, and there may be more\n");
    }
    return 0;
}

/** @return list<string> */
function details_of(\Dlock\Inspection $lock): array
{
    $lines = [printable($lock->resource)];
    foreach ($lock->servers as $server => $state) {
        $lines[] = "  $server: " . printable($state);
    }
    $rows = [['', 'ID', 'WHO', 'MODE', 'FOR', 'LEFT', 'FENCING TOKEN']];
    foreach ($lock->holders as $holder) {
        $since = held_since($holder);
        $rows[] = ['held', $holder->id, who($holder), mode($holder), span($since === null ? null : $lock->at - $since), span($holder->remaining),
            (string) ($holder->fencingToken ?? '-')];
    }
    foreach ($lock->waiters as $i => $waiter) {
        $rows[] = ['waits ' . $i + 1, $waiter->id, who($waiter), mode($waiter), span($waiter->askedAt === null ? null : $lock->at - $waiter->askedAt), '-', '-'];
    }
    $lines = count($rows) > 1 ? [...$lines, ...array_map(fn (string $line) => "  $line", table($rows))] : [...$lines, '  free, and no process waits'];
    $more = $lock->waiting - count($lock->waiters);
    return $more > 0 ? [...$lines, "  and $more more wait"] : $lines;
}

function mode(\Dlock\Party $party): string
{
    return $party->mode === 'permits' ? "$party->permits permit" . ($party->permits === 1 ? '' : 's') : $party->mode;
}

function show_lock(Arguments $arguments): int
{
    $lock = $arguments->locks()->inspect($arguments->name(), $arguments->whole('waiters', 20, 0, 1000));
    echo $arguments->has('json') ? json($lock) : implode("\n", details_of($lock)), "\n";
    if (!$lock->holders) {
        fwrite(STDERR, 'dlock: that is of ' . $arguments->kind() . "; --class and --prefix name others\n");
    }
    return $lock->holders ? 0 : 1;
}
