<?php
/* docs/performance.md and docs/performance/details.md without their numbers. document.php inserts the numbers, and
 * splits the text at the form feed. The data decide on sentences that are true only of some results. */
declare(strict_types=1);

/** @var Results $results  @var array<string, string> $plots */
$data = $results->data;
$machine = $data['machine'];
$full = $data['size'] === 'full';
$ratio = fn (string $claim) => shown($results->ratio($claim));

$pair = fn (string $way) => $results->figure($way, 'alone', 'pair_p50');
$us = fn (string $way) => shown($pair($way));
$of_phpredis = shown($pair('C: pair') && $pair('phpredis by hand') ? $pair('C: pair') / $pair('phpredis by hand') : null);

$script = "The acquire is a Lua script, and so is the release. In one round trip it checks the queue, so that no client overtakes a waiter, and counts the
    fencing token; a plain `SET NX PX` does neither. In bare C, on the same CPU, a lock and its release take {$us('C: pair')} µs with `SET NX PX`, and
    {$us('C: direct')} µs with scripts for a queue and a token: that part of the difference is the server's work, with any client.
    `DistributedLock` takes {$us('DistributedLock')} µs, which is {$ratio('uncontended, one Redis, to bare C with a queue')} × the latter.
    The gain shows when several processes want one lock. With phpredis by hand it is {$us('phpredis by hand')} µs; bare C itself takes
    {$of_phpredis} × that.";
$shared_cores = "Client and servers share $machine[CPUs] CPUs here. Asking all servers at once saves time only as far as they
    work at the same time, which they do on machines of their own. Bare C that asks all at once takes {$us('C: quorum')} µs here, and
    in turn {$us('C: in turn')} µs. In addition, `RedLock` ({$us('RedLock')} µs) has each server run a script, as above.";
$queue = "The bare C program has a list as its queue and considers every listener alive. dlock's scripts keep waiters in the order of their
    tickets, skip those without a heartbeat, and keep positions when a message is lost. For each section they call 16 commands, and
    20 where the queue is made and removed each time, as with two processes; the program's scripts call 8. Run back to back these scripts take 36 µs of the server's CPU
    for each section, and the program's 25 µs; a millisecond later, with cold caches, both take twice as long. The client does no more
    than the program: three system calls from the wake-up to PHP.";
$cold = "Bare C sends each server a plain `SET`. A lock with a queue and a fencing token needs a script, which each of the five servers runs in
    turn on the one CPU, with cold caches: a script with nothing else than that `SET` already makes 1.33 of the bare C program's time.";
$stall = 'No client was overtaken in these runs: all in the queue waited longer when the machine was busy elsewhere for
    some milliseconds. The column "bare C" has the same ratio of the C program.';
$confirmed = 'Client, master and replica share one CPU here. The replica has to run, and the master once more, before the client continues: two
    more changes of process for each lock. The server also reads its `INFO` twice: for its replication ID before it grants, and for its count of
    full resynchronizations after the wait, in a second script of the same packet (`resync_guard=0` omits it).';
$overtaken = fn (int $processes) => $results->figure('DistributedLock', $processes, 'overtaken');
/**
 * By claim, why its bar may be missed. The reasons come from profiles, not from guesses. Other claims have no known
 * reason.
 */
$reasons = [
    'uncontended, one Redis, to bare C' => $script,
    'uncontended, one Redis, to phpredis by hand' => $script,
    'uncontended, one Redis, to Symfony Lock' => $script,
    'uncontended, five Redis, to bare C' => $shared_cores,
    'uncontended, five Redis, to bare C in turn' => $shared_cores,
    'uncontended, five Redis, to the Redlock class' => $shared_cores,
    'sections/s, to bare C direct' => $queue,
    'server CPU for each section, to bare C direct' => $queue,
    'five Redis on one CPU, to bare C' => $cold,
    'hand-over p50, to bare C direct' => $queue,
    'longest wait, to the median' => $stall,
    'a replica confirms, to a server with a replica' => $confirmed,
];
$missed = [];
foreach ($results->with_verdict('missed') as $result) {
    $reason = $reasons[$result['claim']] ?? null;
    $known = $reason !== null && ($reason !== $stall || $overtaken($result['processes']) === 0.0);
    $missed[match (true) {
        $known => $reason,
        $result['low'] < $result['bar'] && $result['bar'] < $result['high'] => 'Some rounds met the bar and others did not: within what this machine varies by.',
        default => 'The reason is not known yet.',
    }]["$result[claim]: bar " . ($result['relation'] === '<=' ? '≤ ' : '≥ ') . shown($result['bar'])][$result['processes']] = shown($result['measured']);
}
/** @param array<int, string> $measured by the number of processes */
$of_processes = fn (array $measured) => implode(', ', array_map(fn ($number, $processes) => $number . (is_int($processes) && $processes > 1 ? " ($processes processes)" : ''),
    $measured, array_keys($measured)));
$unknown = $results->with_verdict('not measured');
// The numbers of processes that most ways were measured with; the plots have all numbers.
$ways_with = fn (int $processes) => count(together_rows($data['medians'], $processes));
$numbers = measured_numbers($data['medians']);
$most_ways = max([0, ...array_map($ways_with, $numbers)]);
$numbers = array_filter($numbers, fn (int $processes) => $ways_with($processes) === $most_ways);
$without = median(array_column($data['requests'], 'without'));
// What a user chooses between; if there are several numbers of processes, 50.
const OTHERS = '/phpredis|Symfony|Redlock class|one of five|^longest wait|^a replica confirms, to|mutex|^commands per/';
$alike = array_count_values(array_column($data['claims'], 'claim'));
$is_compared = fn (array $claim) => preg_match(OTHERS, $claim['claim']) === 1 && ($claim['processes'] === 50 || $alike[$claim['claim']] === 1);
// The claims of no other list.
$is_left = fn (array $claim) => !$is_compared($claim) && !str_starts_with(verdict($claim), 'missed');
?>
# Performance

Made by `scripts/bench.sh <?= $full ? '' : '--short ' ?>--document` on <?= $data['date'] ?>, in <?= $data['took'] ?> s; `bench/document.php` writes this text from
[`performance/results.json`](performance/results.json). Do not edit it: edit `bench/performance.md.php`, or measure again.
<?php if (!$full): ?>

**This was a short run**, with few rounds: its figures are not to be relied on, and some ways and numbers of processes are missing.
<?php endif ?>
<?php if ($data['failures'] !== []): ?>

These runs failed, and are missing below:

<?php foreach ($data['failures'] as $failure): ?>
- `<?= $failure ?>`
<?php endforeach ?>
<?php endif ?>

On this machine: <?= wordwrap(implode('; ', array_map(fn ($what, $value) => "$what $value", array_keys($machine), $machine)), 120) ?>.

Compare ratios, not times: both sides of a ratio were measured in the same round on this machine. It is the median of all rounds; the
column "rounds" has the least and the greatest. A bar must be met, an aim may be missed.

## In short

<?= markdown(short_rows($data['medians'])) ?>

One process alone: acquire and release, median. Fifty processes: one lock, critical sections of 1 ms. With polling, the process that has just released
mostly wins the next race: its own wait is short, and the others' is long.

## Ratios

[Details](performance/details.md#where-dlock-is-slower-than-its-bars) lists the missed bars with their reasons, the other ratios, and all tables.

<?= markdown(claim_rows(array_filter($data['claims'], $is_compared))) ?>

Of all ratios: <?= count($results->with_verdict('met')) ?> met, <?= count($results->with_verdict('missed')) ?> missed, <?= count($unknown) ?> not measured.
"Bare C" is `bench/limit.c`: hiredis or the ZooKeeper client, and nothing in between. "Bare C direct" (`C: direct`) has a queue on the server and
hands the lock to the next waiter; the column "bare C" is the same ratio of that program.

## What is measured

- `phpredis by hand`, `predis by hand`: `SET NX PX`, and a script by `EVALSHA` that deletes the key if the token is its own; a pause of 5 to
  15 ms between attempts.
- `Symfony Lock`: its `RedisStore` on phpredis. `SETNX class`, `Redlock class`: as found in many applications (`bench/userland/`).
- Both sides of a ratio take turns, round after round, in one order and then in the other. The first round, and a few sections in each
  process, are not counted.
- All on one machine, through the loopback interface. Over a network round trips decide: `DistributedLock` has one to acquire and one to
  release.
<?php if (!isset($machine['predis'])): ?>
- predis is not among this system's packages, and was left out.
<?php endif ?>
<?= "\f" ?>
# Performance: details

Made as [Performance](../performance.md), from the same run. Times are this machine's.
<?php if ($missed !== []): ?>

## Where dlock is slower than its bars

<?php foreach ($missed as $reason => $claims): ?>
<?php foreach ($claims as $claim => $measured): ?>
- <?= "$claim; measured {$of_processes($measured)}" ?>

<?php endforeach ?>

<?= wordwrap(preg_replace('/\s+/', ' ', $reason), 130) ?>


<?php endforeach ?>
<?php endif ?>

## Other ratios

<?= markdown(claim_rows(array_filter($data['claims'], $is_left))) ?>

## One process alone

Acquire and release by one process; medians of the rounds, µs. With one Redis server, and with five where that is said, client and servers
share one CPU: otherwise the scheduler decides whether a wake-up has to wake a sleeping CPU, which takes longer than the lock. "Server CPU" is the
CPU time of the thread that serves clients, in all servers together, for one lock and its release, as `INFO cpu` says before and after the
sections; "bytes" are those that the servers received and sent for it, as `INFO stats` says.

<?= markdown(alone_rows($data['medians'])) ?>

### How many locks one server grants

<?= APART['processes'] ?> clients at one server, each with a lock of its own, so that no client waits for a lock; the server stays on one CPU.

<?= markdown(apart_rows($data['medians'])) ?>

A Redis server serves its clients in one thread, so that one core bounds how many locks there are in a second. That bound is judged: locks for each
second of CPU time that the server has used. "Locks/s here" is what came of it on this machine, where the clients want the same CPUs.

### Servers that are far away

Five servers behind a relay (`bench/delay.c`) that holds back what goes either way for <?= FAR['round_trip_us'] / 2000 ?> ms, so that a round
trip takes <?= FAR['round_trip_us'] / 1000 ?> ms more. Times in ms:

<?= markdown(far_rows($data['medians'])) ?>

<?php $replicated = replicated_rows($data['medians']) ?>
<?php if (count($replicated) > 1): ?>
### Servers with replicas

A master with one replica, and a cluster of three masters with one replica each. "With a replica" is the plain mode there: no call waits for the replica.
With `replicas=1` a lock counts only when the replica has confirmed it, which takes the master a round trip to its replica; the release does not wait. With
a cluster that is so unless `replicas=0` says otherwise. On one host, client and all servers share one CPU, so that a replica's work counts,
too: a server without one is faster by that. With hosts apart, a round trip from the client to the master, and from the master to its
replica, takes <?= REPLICATED['round_trip_us'] / 1000 ?> ms more. The hand-over is that of <?= REPLICATED['processes'] ?> processes with critical sections of 1 ms, on one host.

<?= markdown($replicated) ?>

<?php endif ?>
## Many processes under one lock

Critical sections of 1 ms; clients and servers share one CPU, except with ZooKeeper. A hand-over lasts from the moment when the holder begins to
release until the next holder has the lock, if that one was already waiting. Libraries that poll have few of these, and their waits are either none
or long: see p99 and the longest. "Overtaken" is the greatest number of sections that were asked for later than another one and began earlier. A process's
first section is left out of waits and of this column: all processes begin at once, and one that loses the CPU between reading the clock and sending
its request is behind all others. "Server CPU" is the servers' CPU time for each section, including what a server does without requests.

<?php if (isset($plots['sections'])): ?>
![Sections per second](sections.svg)

<?php endif ?>
<?php if (isset($plots['handover'])): ?>
![Hand-over](handover.svg)

<?php endif ?>
<?php foreach ($numbers as $processes): ?>
<?= $processes ?> processes; times in ms:

<?= markdown(together_rows($data['medians'], $processes)) ?>

<?php endforeach ?>
<?php $sale = sale_rows($data['medians']) ?>
<?php if (count($sale) > 1): ?>
## Permits

A sale of <?= number_format(PERMITS['units']) ?> units. "Bare counter" and "Stock" are <?= number_format(PERMITS[$data['size']]['requests']) ?> requests over <?= PERMITS['connections'] ?> connections at once, by a program in C (`bench/crowd.c`): a script that only decrements a counter, and the scripts that `Stock::reserve()` and `Reservation::confirm()` send. <?= isset($data['medians']['Stock, sold out']) ? '"Sold out": another one has bought all before. ' : '' ?>"Abandoned": 90 of 100 reservations are never
confirmed, and last for <?= PERMITS['abandoned_ttl'] ?> ms. "PHP": <?= PERMITS['processes'] ?> processes that make one request after the other; each reserves and confirms, or reads and decrements a stock under one
`DistributedLock`. Each sale ends with as many units sold as there were, or as were paid for.

<?= markdown($sale) ?>

<?php $costs = $data['stock_costs'] ?? null ?>
<?php if ($costs !== null): ?>
The server's CPU for each request of a sale, in <?= $costs['rounds'] ?> rounds of their own (`scripts/stock-costs.sh --before <?= $costs['before'] ?> --document`, on <?= $costs['date'] ?>, commit <?= $costs['commit'] ?>).
"Requests per second of it" is a ratio: how many `Stock` serves for each that the other one does. Sold out: all refused. A whole sale: <?= number_format($costs['sales']['a whole sale'][0]) ?> units, <?= number_format($costs['sales']['a whole sale'][1]) ?> requests. 90 % abandoned: <?= number_format($costs['sales']['90 % abandoned'][0]) ?> units, and reservations of <?= $costs['sales']['90 % abandoned'][2] / 1000 ?> s.

<?= markdown(stock_rows($costs)) ?>

<?php endif ?>
What acquiring and releasing one permit costs the server, beside that number of holders; µs, as Redis counts the time of its commands. Redisson's are scripts with the commands of
its `RPermitExpirableSemaphore`, which has no queue and no fencing token, and goes by the clients' clocks.

<?= markdown(semaphore_rows($data['medians'])) ?>

<?= PERMITS['readers'] ?> readers and <?= PERMITS['writers'] ?> writers of one resource, each a process, with sections of no length, for <?= PERMITS[$data['size']]['seconds'] ?> s:

<?= markdown(readers_rows($data['medians'])) ?>

<?php endif ?>
## Waiting

<?= $data['waiting']['processes'] ?> processes wait for <?= $data['waiting']['seconds'] ?> s. What they and the holder send in that time: commands per process, second and server.

<?= markdown(waiting_rows($data['waiting']['commands'])) ?>

## A request to PHP-FPM

What a lock adds to a request, which takes <?= shown($without) ?> µs without one; µs. "First" is a worker's first request with a lock, "later" are its
second and all that follow. The next columns count what the Redis servers saw in such a request, all servers together: connections, `AUTH`, and
scripts sent (`SCRIPT LOAD` or `EVAL`); for `ZkLock`, sessions. All servers want a password. "Memory" is the growth of the worker since before its
first lock, in KiB (PSS). Requests with and without a lock alternate in the same worker; each way has a new one in each round. Opcache is <?= strtok($machine['opcache'], ',') ?>. Client, worker
and Redis servers share one CPU, so that all of their work counts: the times are for comparison, and `RedLock` gains nothing from asking at once there.

<?= markdown(per_request_rows($data['requests'])) ?>

"phpredis by hand" connects in each request, as do predis, Symfony Lock and the classes here; with `pconnect` phpredis keeps the connection.

## Databases

<?php $databases = $data['databases'] ?? null ?>
<?php if ($databases === null): ?>
Not measured yet: `scripts/bench-databases.sh --document` does.
<?php else: ?>
<?= wordwrap("Made by `scripts/bench-databases.sh --document` on $databases[date], in $databases[took] s: $databases[rounds] rounds, commit $databases[commit], PostgreSQL {$databases['versions']['pgsql']}, "
    . "MariaDB {$databases['versions']['mysql']}, Symfony Lock {$databases['versions']['Symfony Lock']}. Both servers flush each commit to the disk. All ways take turns on one machine; "
    . 'clients are PDO, except for dlock. One process; "server CPU" is that of all of its processes.', 130) ?>


<?= markdown(database_pair_rows($databases['medians'])) ?>

<?= wordwrap('Processes that take turns at one lock, in critical sections of 1 ms: the median time from the release to the next holder, and how often each of them had the lock. Symfony\'s '
    . "PostgreSqlStore waits in an advisory lock, PdoStore polls. While " . DATABASES['waiting'] . " wait, each sends " . shown($databases['medians']['pgsql']['statements'])
    . ' statements a second to PostgreSQL, ' . shown($databases['medians']['mysql']['statements']) . ' to MariaDB.', 130) ?>


![Hand-over in databases](databases.svg)

<?= markdown(database_turn_rows($databases['medians'])) ?>

<?= markdown(claim_rows($databases['claims'])) ?>
<?php endif ?>
