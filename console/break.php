<?php
declare(strict_types=1);

namespace Dlock\Console;

/** The claim to break; null: it no longer holds the lock. */
function holder_with(\Dlock\Inspection $lock, string $id): ?\Dlock\Party
{
    foreach ($lock->holders as $holder) {
        if ($holder->id === $id) {
            return $holder;
        }
    }
    return null;
}

function confirm(string $name, \Dlock\Party $holder): bool
{
    $until = $holder->remaining === null ? '' : ' until ' . date('H:i:s', (int) ceil(time() + $holder->remaining));
    fwrite(STDERR, who($holder) . " may still write$until, while others hold the lock; a store that compares fencing tokens refuses that.\n"
        . 'Type the name of the lock to go on: ');
    $line = fgets(STDIN);
    return $line === false ? throw new Misuse('--now asks for the name of the lock; in a script it needs --yes') : rtrim($line, "\r\n") === $name;
}

function break_lock(Arguments $arguments): int
{
    $name = $arguments->name();
    $id = $arguments->text('id') ?: throw new Misuse('break needs the --id of the holder, as "show" has it');
    $locks = $arguments->locks();
    $holder = holder_with($locks->inspect($name, 1000), $id);
    if ($holder && $arguments->has('now') && !$arguments->has('yes') && !confirm($name, $holder)) {
        fwrite(STDERR, "dlock: nothing was done\n");
        return 1;
    }
    $by = (get_current_user() ?: 'unknown') . '@' . (gethostname() ?: '?');
    $left = $holder ? \Dlock\break_lock($locks, $name, $id, $by, $arguments->has('now')) : null;
    if ($left === null) {
        fwrite(STDERR, "dlock: that is not the holder any more\n");
        return 3;
    }
    if ($arguments->has('json')) {
        echo json(['resource' => $name, 'id' => $id, 'freeIn' => $left]), "\n";
    } else {
        echo $left > 0 ? 'broken; its holder is told with its next renewal, and it is free in ' . span($left) . " at most\n" : "broken and given on\n";
    }
    return 0;
}
