--TEST--
Stock: units become available once when a reservation ends, and go to the first waiter that they suffice for; a late payment buys while units are available
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
/** A process that waits, reports what it reserved and when, and keeps it until it is told what to do with it. */
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
/** The longest time in s for which a single waiter was silent, by the requests that the server saw. */
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
/**
 * Calls $do with a product of its own. Repeats it if the machine had no time for a waiter, which was passed over
 * because it was silent for too long.
 */
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
// Nothing to wait for: sold out, or an unknown product.
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

// First fit: a waiter that wants more than is available is passed by those that want less, keeps its place, and is told
// at once when it can never be served.
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

// Canceled units go at once to the first waiter that they suffice for.
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

// First come, first served, on request: no client passes a waiter that came earlier.
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

// cancel() withdraws a request that waits; a payment that follows is refused.
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

// An earlier cancellation does not withdraw a new request of the same name that waits, although tickets are an hour
// ahead of the time. That happens if a clock was set back by an hour, and an order of several products came.
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

// A late payment goes before the waiters.
$stock->restock('ring', 1);
$late = $stock->reserve('ring', 'ann', 'r', ttl: 0.05);
over($stock, $late);
same(true, $late->confirm(), 'paid late, as one is available');

// Units of a reservation that has ended become available once, and go to the first waiter, without a sweep.
undisturbed('hat', function (string $sku) use ($stock, $prefix) {
    $stock->restock($sku, 1);
    $late = $stock->reserve($sku, 'ann', 'r');
    $line = [waiter($sku, 'bob'), waiter($sku, 'cid')];
    $start = now();
    $ends = redis_raw()->cmd('TIME')[0] * 1000 + 2000; // and a part of a second has passed
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

// Late, but no other buyer needed the units.
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

// A reservation that has ended does not count toward the buyer's limit.
$stock->restock('sock', 2);
$limited = new Stock(redis_server(), $prefix, perBuyer: 1);
over($stock, $limited->reserve('sock', 'ann', 'r1', ttl: 0.05));
same(['sock' => 1], $limited->reserve('sock', 'ann', 'r2')?->items, 'another one then');

// A buyer waits while the same buyer reserves the last unit that its limit permits.
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

// "Nothing is available before that time" does not hold after a clock was set back: it was noted 1,000 s later than
// now, for 2 ^ 10 ms.
$stock->restock('coat', 2);
$stock->reserve('coat', 'ann', 'r');
$noted = (time() + 1000) * 1000;
redis_raw()->cmd('ZADD', "{$prefix}coat", -64 * ($noted + 2 ** 10) - 10, '$full');
same(['coat' => 1], $stock->reserve('coat', 'bob', 'r')?->items, 'one was available');

// Added units go to the waiters.
undisturbed('tie', function (string $sku) use ($stock) {
    $stock->restock($sku, 1);
    $stock->reserve($sku, 'eve', 'r');
    $line = [waiter($sku, 'ann'), waiter($sku, 'bob')];
    $stock->restock($sku, 1);
    holds($line[0]->hear()[1] > 0, 'the first has the new one');
    same([0, 2, 0, 1], counts($sku), 'the other waits on');
    $line[1]->kill();
});

// A signal's handler may end the wait; then the request does not stay in the queue, in which nobody else looks for dead
// ones.
$is_empty = fn () => preg_grep('/^[qsu]/', redis_raw()->cmd('ZRANGE', "{$prefix}pin", 0, -1)) === [];
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
wait_for($is_empty, 60, 'the queue to be empty');
same([0, 1, 0, 0], counts('pin'), 'nothing is reserved');

// A fatal error may end it, too; the process continues with the next request, and listens.
$child = php_child('
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, fn () => trigger_error("the end", E_USER_ERROR));
    register_shutdown_function(function () { echo "in shutdown\n"; fgets(STDIN); });
    (new Dlock\Stock(redis_server(), $argv[1]))->reserve("pin", "ann", "r", 60);
', [$prefix], '-d display_errors=0 -d log_errors=0');
wait_for(fn () => counts('pin')[3] === 1, 60, 'it to wait');
$child->signal(SIGUSR1);
same('in shutdown', $child->readLine(), 'a fatal error');
wait_for($is_empty, 60, 'the queue to be empty');
echo "done\n";
?>
--EXPECT--
done
