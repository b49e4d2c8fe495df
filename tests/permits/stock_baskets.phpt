--TEST--
Stock: an order of several products waits until all are available, on each kind of server; what it lacks is kept for it in its turn, the rest is for sale
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';
require __DIR__ . '/../inc/replicated.inc';

use Dlock\Reservation;
use Dlock\Stock;

Strands::install();

/** A buyer that waits in a strand; the returned object shows what it reserved. */
function buyer(Stock $stock, array $items, string $buyer, float $timeout = 60): ArrayObject
{
    $got = new ArrayObject();
    Strands::spawn(function () use ($stock, $items, $buyer, $timeout, $got) {
        $got[] = $stock->reserve($items, $buyer, 'r', $timeout);
    });
    return $got;
}
/** Units available, and requests that wait, for each product. */
function counts(Stock $stock): array
{
    return array_map(fn (array $counts) => [$counts['available'], $counts['waiting']], $stock->counts(['hat', 'shoe']));
}
function run_until(Closure $condition, string $what): void
{
    $end = now() + 60;
    Strands::spawn(fn () => Strands::until(fn () => $condition() || now() > $end));
    Strands::run(fn () => $condition());
    holds($condition(), $what);
}

$servers = ['one server' => null, 'Sentinels' => new SentinelSet(1, downAfter: 60_000), 'cluster' => new ClusterSet(3, 0, timeout: 60_000), 'memory' => null];
$dsns = ['one server' => redis_server(), 'Sentinels' => $servers['Sentinels']->dsn(), 'cluster' => $servers['cluster']->dsn(['replicas' => 0]), 'memory' => 'memory://baskets'];
foreach ($dsns as $name => $dsn) {
    $prefix = '{' . unique('baskets') . '}:';
    $stock = new Stock($dsn, $prefix);
    $stock->restock('hat', 2);
    $stock->restock('shoe', 1);
    $hats = $stock->reserve(['hat' => 2], 'ann', 'r');
    $shoe = $stock->reserve('shoe', 'eve', 'r');
    same(null, $stock->reserve(['hat' => 1, 'shoe' => 1], 'bob', 'r'), "$name: without a time limit it does not wait");
    same(null, $stock->reserve(['hat' => 3, 'shoe' => 1], 'bob', 'r', 60), "$name: no wait for more than there are");

    // The order waits for the first product that it lacks, then for the other one; units of the rest are for sale.
    $bob = buyer($stock, ['hat' => 1, 'shoe' => 1], 'bob');
    run_until(fn () => counts($stock) === ['hat' => [0, 1], 'shoe' => [0, 0]], "$name: it waits for a hat");
    same(true, $shoe->cancel(), "$name: a shoe is available");
    $shoe = $stock->reserve('shoe', 'dan', 'r');
    same(['shoe' => 1], $shoe?->items, "$name: that nobody waits for");
    $hats->cancel();
    run_until(fn () => counts($stock) === ['hat' => [2, 0], 'shoe' => [0, 1]], "$name: it waits for a shoe");
    same(0, count($bob), "$name: and has nothing");
    $cid = buyer($stock, ['shoe' => 1], 'cid'); // behind it
    run_until(fn () => counts($stock)['shoe'][1] === 2, "$name: another one waits");
    $shoe->cancel();
    run_until(fn () => count($bob) === 1, "$name: it has all");
    same([['hat' => 1, 'shoe' => 1], true], [$bob[0]?->items, $bob[0]?->fencingToken > $shoe->fencingToken], "$name: of both products, before who came later");
    same(['hat' => [1, 0], 'shoe' => [0, 1]], counts($stock), "$name: then");
    same(true, $bob[0]->confirm(), "$name: it buys");
    run_until(fn () => count($cid) === 1, "$name: the last shoe is sold");
    same(null, $cid[0], "$name: so who waits for one hears of it");

    // A reservation that ends by itself, a time limit, cancel(), and a sale that is closed.
    $stock->restock('shoe', 1);
    $late = $stock->reserve('shoe', 'fay', 'r', ttl: 0.5);
    $gil = buyer($stock, ['hat' => 1, 'shoe' => 1], 'gil');
    run_until(fn () => count($gil) === 1, "$name: a reservation ends");
    same(['hat' => 1, 'shoe' => 1], $gil[0]?->items, "$name: and it has both");
    $held = $stock->reservation(['hat' => 1, 'shoe' => 1], 'gil', 'r');
    $short = buyer($stock, ['hat' => 1, 'shoe' => 1], 'hal', 0.2);
    run_until(fn () => count($short) === 1, "$name: its time is over");
    same([null, ['hat' => [0, 0], 'shoe' => [0, 0]]], [$short[0], counts($stock)], "$name: it has left");
    $withdrawn = buyer($stock, ['hat' => 1, 'shoe' => 1], 'ida');
    run_until(fn () => counts($stock)['hat'][1] === 1, "$name: it waits");
    same(true, $stock->reservation(['hat' => 1, 'shoe' => 1], 'ida', 'r')->cancel(), "$name: cancelled while it waits");
    run_until(fn () => count($withdrawn) === 1, "$name: withdrawn");
    same([null, ['hat' => [0, 0], 'shoe' => [0, 0]]], [$withdrawn[0], counts($stock)], "$name: so it has none");
    $closed = buyer($stock, ['hat' => 1, 'shoe' => 1], 'jon');
    run_until(fn () => counts($stock)['hat'][1] === 1, "$name: it waits again");
    $stock->close('hat');
    run_until(fn () => count($closed) === 1, "$name: closed");
    same(null, $closed[0], "$name: it hears of it");
    $stock->open('hat');

    // Orders are served in the order in which they came, and a dropped fiber leaves nothing.
    $order = new ArrayObject();
    foreach (['one', 'two'] as $i => $buyer) {
        Strands::spawn(function () use ($stock, $buyer, $order) {
            $reservation = $stock->reserve(['hat' => 1, 'shoe' => 1], $buyer, 'r', 60);
            $order[] = $buyer;
            $reservation->cancel();
        });
        run_until(fn () => counts($stock)['hat'][1] === $i + 1, "$name: $buyer waits");
    }
    $held->cancel();
    run_until(fn () => count($order) === 2, "$name: both had it");
    same(['one', 'two'], $order->getArrayCopy(), "$name: in order");
    $held = $stock->reserve(['hat' => 1, 'shoe' => 1], 'kim', 'r');
    buyer($stock, ['hat' => 1, 'shoe' => 1], 'lea');
    run_until(fn () => counts($stock)['hat'][1] === 1, "$name: it waits");
    Strands::drop();
    wait_for(fn () => counts($stock) === ['hat' => [0, 0], 'shoe' => [0, 0]], 60, "$name: a fiber that is dropped");
    same(true, $held->cancel(), "$name: in the end");
    same(['hat' => [1, 0], 'shoe' => [1, 0]], counts($stock), "$name: all are available");
}
echo "done\n";
?>
--EXPECT--
done
