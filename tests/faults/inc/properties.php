<?php
/* The properties that a history must have. Each function lists the violations of one property. */
declare(strict_types=1);

require_once __DIR__ . '/history.php';
require_once __DIR__ . '/sale.php';
require_once __DIR__ . '/setting.php';

const PROPERTIES = [
    'one holder at a time' => 'overlaps',
    'never more permits out than there are' => 'excess_permits',
    'fencing tokens rise' => 'tokens_out_of_order',
    'the record loses no update and takes none twice' => 'lost_updates',
    'never more sold and reserved than there is' => 'oversold',
    'what was bought is sold, once, and nothing else' => 'inexact_sales',
    'buyers keep to their limit' => 'greedy_buyers',
    'the books are right at each look' => 'wrong_books',
    'waiters end in time' => 'late_waiters',
    'every waiter gets its turns' => 'unfair_turns',
    'a name that hangs costs no lease' => 'leases_lost_by_name',
    'locks are free after the faults' => 'locks_not_free',
    'nothing is left' => 'things_left',
    'children leave their parents\' locks alone' => 'meddling_children',
    'no process crashes' => 'crashes',
];
/** Properties of some classes only. */
const LOCK = ['one holder at a time'];
const PERMITS = ['never more permits out than there are'];
const STOCK = ['never more sold and reserved than there is', 'what was bought is sold, once, and nothing else', 'buyers keep to their limit'];
const BOOKS = ['the books are right at each look'];
/** What can be checked during a run. */
const SAFETY = [...LOCK, ...PERMITS, 'fencing tokens rise', 'never more sold and reserved than there is', 'buyers keep to their limit', ...BOOKS,
    'children leave their parents\' locks alone', 'no process crashes'];
/** What can be checked of a run without checks after the faults. */
const WITHOUT_FINALE = [...SAFETY, 'the record loses no update and takes none twice', 'waiters end in time'];

/** What a class promises; all properties, if the class is unknown. @return list<string> */
function properties_of(string $class): array
{
    return array_values(array_diff(array_keys(PROPERTIES), match (Setting::kind($class)) {
        'Lock' => [...PERMITS, ...STOCK, ...BOOKS],
        'Semaphore', 'ReadWriteLock' => [...LOCK, ...STOCK],
        'Stock' => [...LOCK, ...PERMITS, 'the record loses no update and takes none twice'],
        null => [],
    }, match (Setting::servers($class)) {
        'Memcached' => ['every waiter gets its turns'],
        'ZooKeeper' => BOOKS,
        'Sentinel', 'Cluster' => BOOKS, // a pool may contain more permits than clients believe in
        default => [],
    }));
}

function ms(int $ns): string
{
    return sprintf('%.3f ms', $ns / 1e6);
}

/** @return array<string, list<Attempt>> by resource: attempts that acquired it, in the order of their replies */
function holders(History $history): array
{
    $holders = [];
    foreach ($history->attempts as $attempt) {
        foreach ($attempt->held ? array_keys($attempt->pieces) ?: [$attempt->resource] : [] as $resource) {
            $holders[$resource][] = $attempt;
        }
    }
    foreach ($holders as &$list) {
        usort($list, fn (Attempt $a, Attempt $b) => $a->answered <=> $b->answered);
    }
    return $holders;
}

/**
 * A client relies on the lock from the reply that granted it to the last isHeld() or release() that returned true. No
 * two clients may do so at once.
 */
function overlaps(History $history): array
{
    $found = [];
    foreach (holders($history) as $resource => $attempts) {
        $last = null;
        foreach ($attempts as $attempt) {
            if ($attempt->of !== 1 || !$attempt->believes()) {
                continue;
            }
            if ($last !== null && $attempt->answered < $last->believed) {
                $found[] = "$resource: $last holds from $last->answered to $last->believed (token $last->fence), and $attempt from"
                    . " $attempt->answered to $attempt->believed (token $attempt->fence): together for "
                    . ms(min($last->believed, $attempt->believed) - $attempt->answered);
            }
            if ($last === null || $attempt->believed > $last->believed) {
                $last = $attempt;
            }
        }
    }
    return $found;
}

/** The same if several clients may hold permits at a time. */
function excess_permits(History $history): array
{
    $found = [];
    foreach (holders($history) as $resource => $attempts) {
        $attempts = array_filter($attempts, fn (Attempt $attempt) => $attempt->of > 1 && $attempt->believes());
        /** @var array<int, Attempt> $out attempts that still hold permits */
        $out = [];
        foreach ($attempts as $i => $attempt) {
            $out = array_filter($out, fn (Attempt $other) => $other->believed > $attempt->answered) + [$i => $attempt];
            $sum = array_sum(array_map(fn (Attempt $other) => $other->permits, $out));
            if ($sum > $attempt->of) {
                $found[] = "$resource: $sum permits of $attempt->of are out at $attempt->answered: "
                    . implode(', ', array_map(fn (Attempt $other) => "$other has $other->permits from $other->answered to $other->believed (token $other->fence)", $out));
            }
        }
    }
    return $found;
}

/**
 * A token is greater than those of all locks acquired before it was requested, and of all holders before it was
 * acquired.
 */
function tokens_out_of_order(History $history): array
{
    $found = [];
    foreach (holders($history) as $resource => $attempts) {
        $attempts = array_values(array_filter($attempts, fn (Attempt $attempt) => $attempt->fence !== null));
        $greater = function (Attempt $attempt, ?Attempt $before, string $why) use (&$found, $resource) {
            if ($before !== null && $before->fence >= $attempt->fence) {
                $found[] = "$resource: $attempt has the token $attempt->fence, but $before had $before->fence, $why";
            }
        };
        // In real time: acquired, then requested.
        $asked = $attempts;
        usort($asked, fn (Attempt $a, Attempt $b) => $a->asked <=> $b->asked);
        $highest = null;
        $i = 0;
        foreach ($asked as $attempt) {
            for (; $i < count($attempts) && $attempts[$i]->answered < $attempt->asked; $i++) {
                if ($highest === null || $attempts[$i]->fence > $highest->fence) {
                    $highest = $attempts[$i];
                }
            }
            $greater($attempt, $highest, 'and had it before the other asked');
        }
        // By holding, among attempts that exclude each other; by permits.
        $before = [];
        foreach ($attempts as $attempt) {
            if ($attempt->of > 0 && $attempt->believes()) {
                foreach ($before as $permits => $highest) {
                    $permits + $attempt->permits > $attempt->of && $greater($attempt, $highest, 'and held before');
                }
                if (!isset($before[$attempt->permits]) || $attempt->fence > $before[$attempt->permits]->fence) {
                    $before[$attempt->permits] = $attempt;
                }
            }
        }
    }
    return $found;
}

function lost_updates(History $history): array
{
    $found = [];
    $journalled = [];
    foreach ($history->record as $resource => $entries) {
        $value = 0;
        $fence = 0;
        foreach ($entries as $entry) {
            [$what, $token, $id, $new] = explode(' ', "$entry ");
            if ($what === 'open') {
                $token > $fence || $found[] = "$resource: $id opened the record with $token after $fence";
                $fence = $token;
            } else {
                $token == $fence || $found[] = "$resource: $id updated the record with $token after $fence had opened it";
                (int) $new === $value + 1 || $found[] = "$resource: $id set $new after $value: an update is lost";
                isset($journalled[$id]) && $found[] = "$resource: $id was taken twice";
                $journalled[$id] = true;
                $value = (int) $new;
            }
        }
        ($history->values[$resource] ?? $value) === $value || $found[] = "$resource: the value is {$history->values[$resource]}, not $value";
    }
    if ($history->record) { // the runner reads it at the end of the run
        foreach ($history->accepted as $id => [$resource]) {
            isset($journalled[$id]) || $found[] = "$resource: the update $id was accepted, and is lost";
        }
    }
    foreach ($history->heldAfterRefusal as [$attempt, $at]) {
        $found[] = "$attempt->resource: $attempt (token $attempt->fence) was refused by the record at $attempt->refused, and holds at $at";
    }
    return $found;
}

/** ns by which an attempt exceeded its timeout while its process was able to run. */
function excess(History $history, Attempt $attempt): int
{
    $excess = $attempt->answered - $attempt->asked - (int) ($attempt->timeout * 1e9);
    return $excess > 0 ? $excess - $history->stopped($attempt->client, $attempt->asked, $attempt->answered) : $excess;
}

function late_waiters(History $history): array
{
    $found = [];
    foreach ($history->attempts as $attempt) {
        if ($attempt->answered !== null && ($excess = excess($history, $attempt)) > Setting::MARGIN * 1e9) {
            $found[] = "$attempt->resource: $attempt was answered " . ms($excess) . " after its timeout of $attempt->timeout s";
        }
    }
    foreach ($history->stuck as $entry) {
        $found[] = "$entry[name] does not end";
    }
    return $found;
}

/** By name, when each client acquired the lock in a contest. @return array<string, list<int>> */
function turns(History $history, array $contest): array
{
    $turns = array_fill_keys($contest['names'], []);
    foreach ($history->attempts as $attempt) {
        if (isset($turns[$attempt->client]) && $attempt->held && $attempt->answered >= $contest['t0'] && $attempt->answered < $contest['t1']) {
            $turns[$attempt->client][] = $attempt->answered;
        }
    }
    return $turns;
}

/**
 * Contests: clients compete for one lock all the time, without faults. Each client gets a fair share of the turns.
 * While it waits, no other client gets turn after turn.
 */
function unfair_turns(History $history): array
{
    $found = [];
    foreach ($history->contests as $contest) {
        $turns = turns($history, $contest);
        $mean = round(array_sum(array_map('count', $turns)) / count($turns), 1);
        $mean >= Setting::LEAST_TURNS || $found[] = "$contest[r]: no more than $mean turns for each in " . ms($contest['t1'] - $contest['t0']);
        foreach ($turns as $name => $times) {
            count($times) >= $mean * Setting::FAIR_SHARE || $found[] = "$contest[r]: $name had " . count($times) . " turns, where the mean is $mean";
        }
        foreach ($history->attempts as $attempt) {
            if (!isset($turns[$attempt->client])) {
                continue;
            }
            $from = max($attempt->asked, $contest['t0']);
            $to = min($attempt->answered ?? $contest['t1'], $contest['t1']);
            foreach ($turns as $name => $times) {
                $before = $name === $attempt->client ? 0 : count(array_filter($times, fn (int $time) => $time > $from && $time < $to));
                $before <= Setting::MOST_TURNS_BEFORE || $found[] = "$contest[r]: while $attempt waited for " . ms($to - $from) . ", $name had $before turns";
            }
        }
    }
    return $found;
}

/** From the probe that holds leases while the names of some servers cannot be resolved. */
function leases_lost_by_name(History $history): array
{
    return array_map(fn (array $entry) => $entry['what'], $history->lostByName);
}

function locks_not_free(History $history): array
{
    $found = [];
    foreach ($history->probes as $probe) {
        if (!$probe['ok'] || $probe['t1'] - $probe['t0'] > $probe['limit'] * 1e9) {
            $found[] = "$probe[r], $probe[what]: " . ($probe['ok'] ? 'taken' : 'not taken') . ' after ' . ms($probe['t1'] - $probe['t0'])
                . ($probe['e'] ?? null ? " ($probe[e])" : '');
        }
    }
    return $found;
}

/** On the servers, and in the clients that live as long as the run. */
function things_left(History $history): array
{
    $found = array_map(fn (array $entry) => "$entry[what], after $entry[after] s", $history->left);
    foreach ($history->inherited as [$name, $entry]) {
        $found[] = "$name began with $entry[sockets] open sockets: they survive exec()";
    }
    foreach ($history->resources as $name => $entries) {
        // After a third of the run, the client has met every server: nothing may grow further, except by some slack.
        $settled = $entries[intdiv(count($entries), 3)];
        $last = end($entries);
        foreach (['fds' => 8, 'threads' => 2, 'rss' => 8192] as $what => $slack) {
            if ($last[$what] > $settled[$what] + $slack) {
                $found[] = "$name: $what grew from $settled[$what] to $last[$what] in " . ms($last['t'] - $settled['t']);
            }
        }
    }
    return $found;
}

function meddling_children(History $history): array
{
    $found = [];
    foreach ($history->children as $child) {
        if ($child['held'] !== false || $child['released'] === true) {
            $found[] = "$child[client]: isHeld() " . var_export($child['held'], true) . ', release() ' . var_export($child['released'], true)
                . " for a lease of its parent's";
        }
    }
    return $found;
}

function crashes(History $history): array
{
    $found = array_map(fn (array $crash) => "$crash[0]: " . json_encode($crash[1]), $history->crashes);
    foreach ($history->ended as $entry) {
        // The last two signals may arrive before the process can handle them.
        if ($entry['signal'] !== 0 ? !in_array($entry['signal'], [SIGKILL, SIGTERM, SIGUSR1], true) : $entry['code'] !== 0) {
            $found[] = "$entry[name] ended by signal $entry[signal], code $entry[code]";
        }
    }
    return $found;
}

/** @param list<string> $which names  @return array<string, list<string>> violations by property */
function violations(History $history, ?array $which = null): array
{
    $found = [];
    foreach (PROPERTIES as $name => $function) {
        if ($which === null || in_array($name, $which, true)) {
            $found[$name] = $function($history);
        }
    }
    return $found;
}
