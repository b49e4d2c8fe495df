--TEST--
Stock: pieces come back when a reservation is over, once, and go to the first waiter; who comes late buys only what nobody needed
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
function counts(string $article): array
{
    global $stock;
    return array_values($stock->counts($article));
}
/** A process that waits, says what it got and when, and keeps it until it hears what to do with that. */
function waiter(string $article, string $buyer, int $pieces = 1, float $timeout = 30, ?int $limit = null): ForkedChild
{
    global $prefix;
    $before = counts($article)[3];
    $child = fork_child(function (callable $say, callable $hear) use ($prefix, $article, $buyer, $pieces, $timeout, $limit) {
        $reservation = (new Stock(redis_server(), $prefix, perBuyer: $limit))->reserve([$article => $pieces], $buyer, 'r', $timeout);
        $say([now(), $reservation?->fencingToken, $reservation?->remaining()]);
        $do = $hear();
        return $reservation === null ? null : $reservation->$do();
    });
    at_end($child->kill(...));
    wait_for(fn () => counts($article)[3] === $before + 1, 60, "$buyer to wait");
    return $child;
}
function over(Dlock\Reservation $reservation): void
{
    wait_for(fn () => $reservation->remaining() === 0.0);
    pause(0.05); // the drift
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

// Who wants more than there can be keeps nobody waiting: at once, and when more has been sold.
$stock->restock('big', 4);
$held = $stock->reserve('big', 'ann', 'r');
within(0, seconds(fn () => same(null, $stock->reserve(['big' => 5], 'bob', 'r', 20), 'more than there are')), SOON, 'no wait for more than there are');
$greedy = waiter('big', 'bob', 4);
$behind = waiter('big', 'cid', 1);
$held->confirm();
[, $token] = $greedy->hear();
same(null, $token, 'one was sold, so three are left');
$greedy->say('nothing');
[, $token] = $behind->hear();
holds($token > 0, 'and the next has one', $token);
$behind->say('cancel');
$behind->result();
same([3, 0, 1, 0], counts('big'), 'in the end');

// What is given back goes to the first waiter, at once, in the order in which they came; a large request is not overtaken.
$stock->restock('shoe', 2);
$ann = $stock->reserve(['shoe' => 2], 'ann', 'r');
$line = [waiter('shoe', 'bob', 2), waiter('shoe', 'cid'), waiter('shoe', 'dan')];
same([0, 2, 0, 3], counts('shoe'), 'three wait');
$start = now();
$ann->cancel();
[$at, $token, $remaining] = $line[0]->hear();
within(0, $at - $start, SOON, 'the first is told at once');
within(500, $remaining, 594, 'and has it for the full time');
holds($token > $ann->fencingToken, 'with a larger fencing token', $token);
same([0, 2, 0, 2], counts('shoe'), 'the others go on waiting');
$line[0]->say('cancel');
same(true, $line[0]->result(), 'given back');
$tokens = [$line[1]->hear()[1], $line[2]->hear()[1]];
holds(min($tokens) > $token, 'both have one', $tokens);
$line[1]->say('confirm');
$line[2]->say('cancel');
same([true, true], [$line[1]->result(), $line[2]->result()], 'bought, given back');
same([1, 0, 1, 0], counts('shoe'), 'in the end');

// What is over is given back once, and to the first waiter, without anybody sweeping.
$stock->restock('hat', 1);
$late = $stock->reserve('hat', 'ann', 'r', ttl: 1.0);
$start = now();
$line = [waiter('hat', 'bob'), waiter('hat', 'cid')];
[$at] = $line[0]->hear();
within(0.9, $at - $start, SOON, 'when the lease is over');
same([0, 1, 0, 1], counts('hat'), 'one has it');
fails(ReservationExpiredException::class, 'The reservation "r" of "ann" has no pieces of "hat": *given to others when its time was over; nothing was bought', fn () => $late->confirm());
fails(ReservationExpiredException::class, '*', fn () => $late->extend());
same(false, $late->cancel(), 'and is given back no more');
same([0, 1, 0, 1], counts('hat'), 'that changed nothing');
$line[0]->say('confirm');
same(true, $line[0]->result(), 'bought');
same(null, $line[1]->hear()[1], 'a waiter ends when nobody has any that could come back');
same([0, 0, 1, 0], counts('hat'), 'one was sold');

// Late, but nobody needed them.
$stock->restock('bag', 2);
$late = $stock->reserve('bag', 'ann', 'r', ttl: 0.05);
$kept = $stock->reserve('bag', 'ann', 'r2', ttl: 0.05);
over($late);
over($kept);
same([2, 0, 0, 0], counts('bag'), 'available again');
same(true, $late->confirm(), 'a late confirm');
same([1, 0, 1, 0], counts('bag'), 'and counted once');
$kept->extend(100);
within(90, $kept->remaining(), 100, 'a late extend');
same([0, 1, 1, 0], counts('bag'), 'so it is reserved');
same(null, $stock->reserve('bag', 'bob', 'r'), 'for nobody else');
same(true, $kept->cancel(), 'given back');
$over = $stock->reserve('bag', 'ann', 'r3', ttl: 0.05);
over($over);
same(true, $over->cancel(), 'what nobody needed is given back late, too');
$over = $stock->reserve('bag', 'ann', 'r4', ttl: 0.05);
over($over);
same(['bag' => 1], $stock->reserve('bag', 'bob', 'r5')?->articles, 'what is over is there for others');
same([0, 1, 1, 0], counts('bag'), 'counted once');

// What is over does not count for the buyer's limit.
$stock->restock('sock', 2);
$limited = new Stock(redis_server(), $prefix, perBuyer: 1);
over($limited->reserve('sock', 'ann', 'r1', ttl: 0.05));
same(['sock' => 1], $limited->reserve('sock', 'ann', 'r2')?->articles, 'another one then');

// Who waits while the same buyer gets the last one that it may have.
$stock->restock('cap', 1);
$first = $stock->reserve('cap', 'eve', 'r0');
$waiting = waiter('cap', 'ann', limit: 1);
$stock->restock('cap', 1);
same('ann', $stock->reservation('cap', 'ann', 'r')->buyer, 'a name');
$waiting->hear();
fails(Dlock\LimitExceededException::class, '*', fn () => $limited->reserve('cap', 'ann', 'r2', 10));
$waiting->kill();

// More pieces are for those who wait.
$stock->restock('tie', 1);
$stock->reserve('tie', 'eve', 'r');
$line = [waiter('tie', 'ann'), waiter('tie', 'bob')];
$stock->restock('tie', 1);
holds($line[0]->hear()[1] > 0, 'the first has the new one');
same([0, 2, 0, 1], counts('tie'), 'the other waits on');
$line[1]->kill();

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
