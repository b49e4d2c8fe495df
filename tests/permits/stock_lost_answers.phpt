--TEST--
Stock: each question whose answer was lost counts once, when it is asked again
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\ConnectionException;
use Dlock\Stock;

$relay = relay(redis_addresses()[0]);
$prefix = unique('lost') . ':';
$direct = new Stock(redis_server(), $prefix, perBuyer: 3);
$stock = new Stock('redis://' . $relay->address() . '?read_timeout=2', $prefix, perBuyer: 3);
function counts(string $sku): array
{
    global $direct;
    return array_slice(array_values($direct->counts($sku)), 1);
}

// The server knows all scripts: what it is asked for the first time it does.
$direct->restock('warm', 9);
$warm = $direct->reserve('warm', 'w', '1');
$warm->extend(700);
$warm->confirm();
$direct->reserve(['warm' => 1], 'w', '2')->cancel();
$direct->reserve(['warm' => 1, 'warm too' => 1], 'w', '3');

/** All answers of this call are lost, those to what it sends again as well. */
function lost(callable $do, string $what): void
{
    global $relay, $stock;
    $stock->counts('warm'); // a connection that works
    $relay->order(0, ['swallow' => true]);
    fails(ConnectionException::class, 'Redis at 127.0.0.1:*', $do, $what);
    $relay->order(0);
    wait_for(static function () use ($stock) {
        try {
            return $stock->counts('warm');
        } catch (ConnectionException) {
            return false;
        }
    }, 60, 'the relay to be well again');
}

lost(fn () => $stock->restock('shoe', 10, 'first'), 'restock()');
same([10, 0, 0, 0], counts('shoe'), 'it was put in');
same(10, $stock->restock('shoe', 10, 'first'), 'asked again');
same([10, 0, 0, 0], counts('shoe'), 'it counts once');
lost(fn () => $stock->restock('shoe', 5), 'restock() without a name');
same([15, 0, 0, 0], counts('shoe'), 'however often one call sends it');

lost(fn () => $stock->reserve('shoe', 'ann', 'r1'), 'reserve()');
same([14, 1, 0, 0], counts('shoe'), 'it was reserved');
$one = $stock->reserve('shoe', 'ann', 'r1');
same([14, 1, 0, 0], counts('shoe'), 'and is found by its name');
within(500, $one->remaining(), 594, 'with the time that is left');

$stock->restock('hat', 4);
lost(fn () => $stock->reserve(['shoe' => 2, 'hat' => 2], 'bob', 'r1'), 'reserve() of several articles');
$both = $stock->reserve(['shoe' => 2, 'hat' => 2], 'bob', 'r1');
same([[12, 3, 0, 0], [2, 2, 0, 0]], [counts('shoe'), counts('hat')], 'once each');

lost(fn () => $one->extend(1000), 'extend()');
$one->extend(900);
same(true, $one->remaining() > 800, 'extended');

lost(fn () => $both->confirm(), 'confirm()');
same([[12, 1, 2, 0], [2, 0, 2, 0]], [counts('shoe'), counts('hat')], 'it was bought');
same(false, $both->confirm(), 'and asked again, it had been before');
same([[12, 1, 2, 0], [2, 0, 2, 0]], [counts('shoe'), counts('hat')], 'once');

lost(fn () => $one->cancel(), 'cancel()');
same([13, 0, 2, 0], counts('shoe'), 'it was given back');
same(false, $one->cancel(), 'asked again');
same([13, 0, 2, 0], counts('shoe'), 'it counts once');
same([2, 0, 2, 0], counts('hat'), 'hats');

// A waiter's answers are lost: it has its piece all the same, under its name.
$stock->restock('cap', 1);
$last = $direct->reserve('cap', 'eve', 'r');
$waiter = fork_child(fn () => (new Stock('redis://' . $relay->address(), $prefix))->reserve('cap', 'ann', 'r', 20)?->confirm());
wait_for(fn () => counts('cap')[3] === 1, 60, 'it to wait');
$relay->order(0, ['cut' => true]);
$last->cancel();
same(true, $waiter->result(), 'over a new connection');
same([0, 0, 1, 0], counts('cap'), 'one was sold');
echo "done\n";
?>
--EXPECT--
done
