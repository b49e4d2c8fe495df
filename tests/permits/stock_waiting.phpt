--TEST--
Stock: units become available when a reservation ends, once, and go to the first waiter that they are enough for; who pays late buys while units are available
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\ReservationExpiredException;
use Dlock\Stock;

$prefix = unique('waiting') . ':';
$stock = new Stock(redis_server(), $prefix);
function counts(string $sku): array
{
    global $stock;
    return array_slice(array_values($stock->counts($sku)), 1, 4);
}
/** A process that waits, says what it got and when, and keeps it until it hears what to do with that. */
function waiter(string $sku, string $buyer, int $units = 1, float $timeout = 30, ?int $limit = null, string $fairness = 'fit'): ForkedChild
{
    global $prefix;
    $before = counts($sku)[3];
    $child = fork_child(function (callable $say, callable $hear) use ($prefix, $sku, $buyer, $units, $timeout, $limit, $fairness) {
        $reservation = (new Stock(redis_server(), $prefix, perBuyer: $limit, fairness: $fairness))->reserve([$sku => $units], $buyer, 'r', $timeout);
        $say([now(), $reservation?->fencingToken, $reservation?->remaining()]);
        $do = $hear();
        return $reservation === null ? null : $reservation->$do();
    });
    at_end($child->kill(...));
    wait_for(fn () => counts($sku)[3] === $before + 1, 60, "$buyer to wait");
    return $child;
}
/** How long the one of them that waits was silent for longest, in s, by the requests that the server saw. */
function longest_silence(RedisRaw $monitor): float
{
    global $prefix;
    redis_raw()->cmd('ECHO', $end = unique('end'));
    [$last, $longest] = [[], 0.0];
    while (!str_contains($line = (string) $monitor->reply(), $end)) {
        if (preg_match('/^([\d.]+) \[[^]]*\] "EVAL\w*" "[^"]*" "1" "' . preg_quote($prefix, '/') . '[^"]*" "([^"]*)"/', $line, $found)) {
            $longest = max($longest, $found[1] - ($last[$found[2]] ?? $found[1]));
            $last[$found[2]] = (float) $found[1];
        }
    }
    return $longest;
}
/** Does this with a product of its own; again where a waiter gave no sign for so long that it is passed over, since the machine had no time for it. */
function undisturbed(string $sku, callable $do): void
{
    for ($attempt = 1; ; $attempt++) {
        $monitor = redis_raw();
        $monitor->cmd('MONITOR');
        ob_start();
        $thrown = thrown_by(fn () => $do("$sku-$attempt"));
        $wrong = (string) ob_get_clean();
        if ($wrong === '' && $thrown === null || $attempt === 10 || longest_silence($monitor) < 2.9) {
            echo $wrong;
            $thrown === null || throw $thrown;
            return;
        }
    }
}
// Nothing to wait for: sold out, or never there.
$stock->restock('gone', 1);
$stock->reserve('gone', 'ann', 'r')->confirm();
within(0, seconds(fn () => same(null, $stock->reserve('gone', 'bob', 'r', 20), 'sold out')), SOON, 'no wait for what is sold');
same(0, counts('gone')[3], 'nobody waits');
within(0.3, seconds(function () use ($stock) {
    $stock->restock('short', 1);
    $stock->reserve('short', 'ann', 'r');
    same(null, $stock->reserve('short', 'bob', 'r', 0.3), 'the time is over');
}), SOON, 'a wait to its end');
same([0, 1, 0, 0], counts('short'), 'who has no more time leaves');

// First fit: who wants more than is free is passed by those who want less, keeps its place, and is told at once when it can never have it.
undisturbed('big', function (string $sku) use ($stock) {
    $stock->restock($sku, 4);
    $held = $stock->reserve($sku, 'ann', 'r');
    within(0, seconds(fn () => same(null, $stock->reserve([$sku => 5], 'bob', 'r', 20), 'more than there are')), SOON, 'no wait for more than there are');
    $greedy = waiter($sku, 'bob', 4);
    $small = $stock->reserve($sku, 'cid', 'r');
    same([$sku => 1], $small?->items, 'three were available, and the waiter wants four');
    $small->cancel();
    $start = now();
    $held->confirm();
    [$at, $token] = $greedy->hear();
    same(null, $token, 'one was sold, so there are three');
    within(0, $at - $start, SOON, 'it is told at once');
    $greedy->say('nothing');
    same([3, 0, 1, 0], counts($sku), 'in the end');
});

// What is cancelled goes to the first waiter that it is enough for, at once.
undisturbed('shoe', function (string $sku) use ($stock) {
    $stock->restock($sku, 2);
    $ann = $stock->reserve([$sku => 2], 'ann', 'r');
    $line = [waiter($sku, 'bob', 2), waiter($sku, 'cid'), waiter($sku, 'dan')];
    same([0, 2, 0, 3], counts($sku), 'three wait');
    $start = now();
    $ann->cancel();
    [$at, $token, $remaining] = $line[0]->hear();
    within(0, $at - $start, SOON, 'the first is told at once');
    within(500, $remaining, 594, 'and has it for the full time');
    holds($token > $ann->fencingToken, 'with a larger fencing token', $token);
    same([0, 2, 0, 2], counts($sku), 'the others go on waiting');
    $line[0]->say('cancel');
    same(true, $line[0]->result(), 'given back');
    $tokens = [$line[1]->hear()[1], $line[2]->hear()[1]];
    holds(min($tokens) > $token, 'both have one', $tokens);
    $line[1]->say('confirm');
    $line[2]->say('cancel');
    same([true, true], [$line[1]->result(), $line[2]->result()], 'bought, given back');
    same([1, 0, 1, 0], counts($sku), 'in the end');
});

// First come, first served, where that is asked for: nobody passes a waiter that came earlier.
undisturbed('glove', function (string $sku) use ($stock, $prefix) {
    $strict = new Stock(redis_server(), $prefix, fairness: 'fifo');
    $stock->restock($sku, 4);
    $held = $strict->reserve($sku, 'ann', 'r');
    $greedy = waiter($sku, 'bob', 4, fairness: 'fifo');
    $behind = waiter($sku, 'cid', 1, fairness: 'fifo');
    wait_for(fn () => counts($sku) === [3, 1, 0, 2], 60, 'three to be available, for those that wait');
    same([null, null], [$strict->reserve($sku, 'dan', 'r'), $stock->reserve($sku, 'dan', 'r')], 'and for nobody else');
    $held->cancel();
    holds($greedy->hear()[1] > 0, 'it has all of them');
    $greedy->say('cancel');
    holds($behind->hear()[1] > 0, 'then the next');
    $behind->say('cancel');
});

// cancel() withdraws a request that waits; the payment that may follow is refused.
undisturbed('belt', function (string $sku) use ($stock) {
    $stock->restock($sku, 1);
    $held = $stock->reserve($sku, 'ann', 'r');
    $withdrawn = waiter($sku, 'bob');
    $start = now();
    same(true, $stock->reservation($sku, 'bob', 'r')->cancel(), 'cancelled while it waits');
    [$at, $token] = $withdrawn->hear();
    same(null, $token, 'so it has none');
    within(0, $at - $start, SOON, 'and is told at once');
    same([0, 1, 0, 0], counts($sku), 'nobody waits');
    $held->cancel();
    fails(ReservationExpiredException::class, '*: it was cancelled; nothing was bought', fn () => $stock->reservation($sku, 'bob', 'r')->confirm(), 'a late payment for it');
    $withdrawn->say('nothing');
});

// What was cancelled before does not withdraw a request of the same name that comes to wait, though tickets are an hour ahead of the time meanwhile: as where a clock was
// set back by an hour, and an order of several products came.
undisturbed('sash', function (string $sku) use ($stock, $prefix) {
    $stock->restock($sku, 1);
    $stock->reserve($sku, 'bob', 'r')->cancel();
    $held = $stock->reserve($sku, 'ann', 'r');
    $again = waiter($sku, 'bob');
    redis_raw()->cmd('ZADD', $prefix . $sku, -3_600_000_000, '$ahead', 0, '$shift');
    $held->cancel();
    holds($again->hear()[1] > 0, 'it has its unit');
    $again->say('cancel');
});

// A payment that comes late goes before those that wait.
$stock->restock('ring', 1);
$late = $stock->reserve('ring', 'ann', 'r', ttl: 0.05);
over($stock, $late);
same(true, $late->confirm(), 'paid late, as one is available');

// What is over is given back once, and to the first waiter, without anybody sweeping.
undisturbed('hat', function (string $sku) use ($stock, $prefix) {
    $stock->restock($sku, 1);
    $late = $stock->reserve($sku, 'ann', 'r');
    $line = [waiter($sku, 'bob'), waiter($sku, 'cid')];
    $start = now();
    $ends = redis_raw()->cmd('TIME')[0] * 1000 + 2000; // and a second has passed in part
    redis_raw()->cmd('ZADD', $prefix . $sku, $ends, 'hann/r', -$ends, '$next');
    [$at] = $line[0]->hear();
    within(0.9, $at - $start, SOON, 'when the lease is over');
    same([0, 1, 0, 1], counts($sku), 'one has it');
    fails(ReservationExpiredException::class, "The order \"r\" of \"ann\" has no units of \"$sku\": its time ended, and the units are not available any more; nothing was bought", fn () => $late->confirm());
    fails(ReservationExpiredException::class, '*', fn () => $late->extend());
    same(false, $late->cancel(), 'and is given back no more');
    same([0, 1, 0, 1], counts($sku), 'that changed nothing');
    $line[0]->say('confirm');
    same(true, $line[0]->result(), 'bought');
    same(null, $line[1]->hear()[1], 'a waiter ends when nobody has any that could come back');
    same([0, 0, 1, 0], counts($sku), 'one was sold');
});

// Late, but nobody needed them.
$stock->restock('bag', 2);
$late = $stock->reserve('bag', 'ann', 'r', ttl: 0.05);
$kept = $stock->reserve('bag', 'ann', 'r2', ttl: 0.05);
over($stock, $late);
over($stock, $kept);
same([2, 0, 0, 0], counts('bag'), 'available again');
same(true, $late->confirm(), 'a late confirm');
same([1, 0, 1, 0], counts('bag'), 'and counted once');
fails(ReservationExpiredException::class, 'The order "r2" of "ann" has no units of "bag": its time ended', fn () => $kept->extend(100), 'a late extend');
same(false, $kept->cancel(), 'there is nothing to cancel');
fails(ReservationExpiredException::class, '*: it was cancelled; nothing was bought', fn () => $kept->confirm(), 'but its payment is refused from then on');
$over = $stock->reserve('bag', 'ann', 'r3', ttl: 0.05);
over($stock, $over);
$over = $stock->reserve('bag', 'ann', 'r4', ttl: 0.05);
over($stock, $over);
same(['bag' => 1], $stock->reserve('bag', 'bob', 'r5')?->items, 'what is over is there for others');
same([0, 1, 1, 0], counts('bag'), 'counted once');

// What is over does not count for the buyer's limit.
$stock->restock('sock', 2);
$limited = new Stock(redis_server(), $prefix, perBuyer: 1);
over($stock, $limited->reserve('sock', 'ann', 'r1', ttl: 0.05));
same(['sock' => 1], $limited->reserve('sock', 'ann', 'r2')?->items, 'another one then');

// Who waits while the same buyer gets the last one that it may have.
undisturbed('cap', function (string $sku) use ($stock, $limited) {
    $stock->restock($sku, 1);
    $first = $stock->reserve($sku, 'eve', 'r0');
    $waiting = waiter($sku, 'ann', limit: 1);
    $stock->restock($sku, 1);
    same('ann', $stock->reservation($sku, 'ann', 'r')->buyer, 'a name');
    $waiting->hear();
    fails(Dlock\LimitExceededException::class, '*', fn () => $limited->reserve($sku, 'ann', 'r2', 10));
    $waiting->kill();
});

// "Nothing is free before that time" is not believed by a clock that was set back: it was noted 1,000 s later than now, for 2 ^ 10 ms.
$stock->restock('coat', 2);
$stock->reserve('coat', 'ann', 'r');
$noted = (time() + 1000) * 1000;
redis_raw()->cmd('ZADD', "{$prefix}coat", -64 * ($noted + 2 ** 10) - 10, '$full');
same(['coat' => 1], $stock->reserve('coat', 'bob', 'r')?->items, 'one was available');

// More pieces are for those who wait.
undisturbed('tie', function (string $sku) use ($stock) {
    $stock->restock($sku, 1);
    $stock->reserve($sku, 'eve', 'r');
    $line = [waiter($sku, 'ann'), waiter($sku, 'bob')];
    $stock->restock($sku, 1);
    holds($line[0]->hear()[1] > 0, 'the first has the new one');
    same([0, 2, 0, 1], counts($sku), 'the other waits on');
    $line[1]->kill();
});

// A signal's handler may end the wait; then nobody stays in the queue.
$stock->restock('pin', 1);
$held = $stock->reserve('pin', 'eve', 'r');
$child = fork_child(function (callable $say) use ($prefix) {
    pcntl_async_signals(true);
    $signals = 0;
    pcntl_signal(SIGUSR1, function () use (&$signals) {
        if (++$signals === 2) {
            throw new LogicException('enough');
        }
    });
    $say('ready');
    try {
        (new Stock(redis_server(), $prefix))->reserve('pin', 'ann', 'r', 60);
    } catch (LogicException $e) {
        return [$e->getMessage(), $signals];
    }
});
$child->hear();
wait_for(fn () => counts('pin')[3] === 1, 60, 'it to wait');
$child->signal(SIGUSR1);
pause(0.1);
same(1, counts('pin')[3], 'a handler that throws nothing');
$child->signal(SIGUSR1);
same(['enough', 2], $child->result(), 'ended by an exception');
wait_for(fn () => counts('pin')[3] === 0, 2.5, 'the queue to be empty');
same([0, 1, 0, 0], counts('pin'), 'nothing is reserved');

// So may a fatal error; the process goes on with the next request, and listens.
$child = php_child('
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, fn () => trigger_error("the end", E_USER_ERROR));
    register_shutdown_function(function () { echo "in shutdown\n"; fgets(STDIN); });
    (new Dlock\Stock(redis_server(), $argv[1]))->reserve("pin", "ann", "r", 60);
', [$prefix], '-d display_errors=0 -d log_errors=0');
wait_for(fn () => counts('pin')[3] === 1, 60, 'it to wait');
$child->signal(SIGUSR1);
same('in shutdown', $child->readLine(), 'a fatal error');
wait_for(fn () => counts('pin')[3] === 0, 2.5, 'the queue to be empty');
echo "done\n";
?>
--EXPECT--
done
