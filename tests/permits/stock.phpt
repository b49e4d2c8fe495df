--TEST--
Stock: all or nothing, a limit for each buyer, a double click, bought once, canceled once; reserved + sold + available are the units at each moment; the same on memory://
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\ConnectionException;
use Dlock\LimitExceededException;
use Dlock\OrderConflictException;
use Dlock\ReservationExpiredException;
use Dlock\Semaphore;
use Dlock\Stock;

function counts(string $sku): array
{
    global $stock;
    return array_slice(array_values($stock->counts($sku)), 1, 4);
}

foreach (['memory://', redis_server()] as $server) {
    $rely = $server === 'memory://' ? 1 : 0.99; // one clock has no drift
    $stock = new Stock($server, $prefix = unique('stock') . ':', perBuyer: 3);

    // Restocking.
    same([0, 0, 0, 0], counts('shoe'), 'of what never was');
    same(null, $stock->reserve('shoe', 'ann', 'early'), 'nothing to be had');
    same(5, $stock->restock('shoe', 5), 'put in');
    same(5, $stock->restock('shoe', 5, 'delivery 1'), 'with a name');
    same(5, $stock->restock('shoe', 5, 'delivery 1'), 'a change with a name is made once');
    same([10, 0, 0, 0], counts('shoe'), 'however often it is asked for');
    same(-3, $stock->restock('shoe', -3), 'taken out');
    $stock->restock('grain', 900_000_000);
    same([99_999_999, 0, -5], [$stock->restock('grain', 900_000_000), $stock->restock('grain', 1), $stock->restock('grain', -5)], 'no more than a stock has at most');
    same([999_999_994, 0, 0, 0], counts('grain'), 'so its number is never taken for the end of a lease');
    if ($server !== 'memory://') {
        same(1, redis_raw()->cmd('EXISTS', "{$prefix}shoe"), 'the key is prefix . sku');
        same(-1, redis_raw()->cmd('PTTL', "{$prefix}shoe"), 'and stays');
        fails(ConnectionException::class, '*WRONGTYPE the key is that of a stock; the key is used for something else than a lock',
            fn () => (new Semaphore(3, redis_server(), $prefix))->tryAcquire('shoe'));
        same(-1, redis_raw()->cmd('PTTL', "{$prefix}shoe"), 'also where a semaphore is given the same prefix');
    }

    // A double click: the same buyer and order are one reservation, however often it is requested.
    $one = $stock->reserve('shoe', 'ann', 'order 1');
    same([['shoe' => 1], 'ann', 'order 1'], [$one->items, $one->buyer, $one->order], 'a reservation');
    within(590, $one->remaining(), 600 * $rely, 'it lasts for the ttl of the stock, but for the drift');
    $two = $stock->reserve('shoe', 'ann', 'order 1');
    same([6, 1, 0, 0], counts('shoe'), 'a double click');
    within(580, $two->remaining(), $one->remaining() + 0.5, 'and does not prolong it');
    holds($two->fencingToken > $one->fencingToken, 'fencing tokens rise', $one, $two);
    fails(OrderConflictException::class, 'The order "order 1" of "ann" has 1 units of "shoe"', fn () => $stock->reserve(['shoe' => 2], 'ann', 'order 1'), 'asked for with another number');
    fails(OrderConflictException::class, 'The order "order 1" of "ann" is for other products than these', fn () => $stock->reserve(['shoe' => 1, 'sock' => 1], 'ann', 'order 1'), 'or with more products');

    // An order is bought once.
    same(true, $one->confirm(), 'bought by this call');
    same(false, $two->confirm(), 'it was before');
    same(false, $stock->reservation('shoe', 'ann', 'order 1')->confirm(), 'by any process');
    same(INF, $two->remaining(), 'for good');
    same(false, $two->cancel(), 'what was bought is not given back');
    same(INF, $two->remaining(), 'and stays bought');
    $three = $stock->reserve('shoe', 'ann', 'order 1');
    same(INF, $three->remaining(), 'asked for again, it is the same order');
    holds($three->fencingToken > $two->fencingToken, 'with a fencing token above those of earlier processes', $three, $two);
    same([6, 0, 1, 0], counts('shoe'), 'counted once');
    fails(ReservationExpiredException::class, 'The order "order 1" of "ann" has no units of "shoe": it is sold', fn () => $three->extend());
    same(INF, $three->remaining(), 'and it stays bought');

    // A limit for each buyer bounds what it has reserved and bought together.
    same(['shoe' => 2], $stock->reserve(['shoe' => 2], 'ann', 'order 2')->items, 'to the limit');
    $limited = thrown_by(fn () => $stock->reserve(['shoe' => 2], 'ann', 'order 3'));
    same('The buyer "ann" already has 3 units of "shoe" (reserved or sold); the limit is 3, and 2 more were requested', $limited->getMessage(), 'above it');
    same(['shoe', 3, 3, 2], [$limited->sku, $limited->limit, $limited->has, $limited->asked], 'what it says');
    $limited = thrown_by(fn () => (new Stock($server, $prefix, perBuyer: 1))->reserve(['shoe' => 2], 'new', 'order 3'));
    same(['shoe', 1, 0, 2], [$limited?->sku, $limited?->limit, $limited?->has, $limited?->asked], 'of a buyer that has nothing');
    holds(is_subclass_of(LimitExceededException::class, Dlock\DlockException::class), 'an exception of dlock');
    same([4, 2, 1, 0], counts('shoe'), 'nothing was reserved');
    same(1, $stock->reserve('shoe', 'bob', 'order 3')->items['shoe'], 'another buyer may');
    same(true, $stock->reservation('shoe', 'ann', 'order 2')->cancel(), 'given back');
    same(2, $stock->reserve(['shoe' => 2], 'ann', 'order 4')->items['shoe'], 'so ann may again');
    same(3, (new Stock($server, $prefix))->reserve(['shoe' => 3], 'ann', 'order 5')?->items['shoe'], 'a stock without a limit');

    // If not enough units are available, nothing is reserved.
    same([0, 6, 1, 0], counts('shoe'), 'all reserved');
    same(null, $stock->reserve('shoe', 'eve', 'order 6'), 'all reserved');
    same(0, $stock->restock('shoe', -2), 'nothing is taken from buyers');

    // A reservation is canceled exactly once.
    $bobs = $stock->reservation('shoe', 'bob', 'order 3');
    same(0.0, $bobs->remaining(), 'nothing is asked yet');
    same([true, false], [$bobs->cancel(), $bobs->cancel()], 'given back, and it was before');
    same([1, 5, 1, 0], counts('shoe'), 'once');
    fails(ReservationExpiredException::class, 'The order "order 3" of "bob" has no units of "shoe": it was cancelled; nothing was bought', fn () => $bobs->confirm());
    fails(ReservationExpiredException::class, '*', fn () => $bobs->extend());

    // Several products: all or nothing.
    $stock->restock('hat', 2);
    same(null, $stock->reserve(['shoe' => 1, 'hat' => 3], 'eve', 'basket 1'), 'not enough hats');
    same([[1, 5, 1, 0], [2, 0, 0, 0]], [counts('shoe'), counts('hat')], 'no shoe is reserved');
    $basket = $stock->reserve(['shoe' => 1, 'hat' => 2], 'eve', 'basket 2');
    same(['shoe' => 1, 'hat' => 2], $basket->items, 'a basket');
    same([[0, 6, 1, 0], [0, 2, 0, 0]], [counts('shoe'), counts('hat')], 'all of it');
    same(['shoe' => 1, 'hat' => 2], $stock->reserve(['shoe' => 1, 'hat' => 2], 'eve', 'basket 2')->items, 'a double click');
    same([0, 2, 0, 0], counts('hat'), 'on all of it');
    same(['hat' => 2, 'shoe' => 1], $stock->reserve(['hat' => 2, 'shoe' => 1], 'eve', 'basket 2')->items, 'in another order');
    fails(OrderConflictException::class, 'The order "basket 2" of "eve" has 2 units of "hat"', fn () => $stock->reserve(['hat' => 1, 'shoe' => 2], 'eve', 'basket 2'));
    fails(LimitExceededException::class, 'The buyer "eve" already has 2 units of "hat" *', fn () => $stock->reserve(['hat' => 2, 'shoe' => 1], 'eve', 'basket 3'));
    $basket->extend(700);
    within(690, $basket->remaining(), 700 * $rely, 'extended');
    $basket->extend(1);
    within(680, $basket->remaining(), 700 * $rely, 'never shortened');
    same([true, false], [$basket->confirm(), $basket->confirm()], 'bought');
    same(['shoe' => 1, 'hat' => 2], $stock->reserve(['shoe' => 1, 'hat' => 2], 'eve', 'basket 2')->items, 'also when it was bought');
    same([[0, 5, 2, 0], [0, 0, 2, 0]], [counts('shoe'), counts('hat')], 'all of it');
    $stock->restock('hat', 1);
    $half = $stock->reserve(['shoe' => 1, 'hat' => 1], 'bob', 'basket 4');
    same(null, $half, 'no shoe left');
    $stock->restock('shoe', 1);
    $half = $stock->reserve(['shoe' => 1, 'hat' => 1], 'bob', 'basket 4');
    foreach (['cancel', 'confirm', 'extend', 'refund'] as $what) {
        fails(OrderConflictException::class, 'The order "basket 4" of "bob" is for other products than these', fn () => $stock->reservation('hat', 'bob', 'basket 4')->$what(), "no part of it: $what()");
    }
    same([[0, 6, 2, 0], [0, 1, 2, 0]], [counts('shoe'), counts('hat')], 'nothing has changed');
    same(true, $half->cancel(), 'all of it is cancelled');
    same([[1, 5, 2, 0], [1, 0, 2, 0]], [counts('shoe'), counts('hat')], 'at once');

}

// At each moment, the counts that any process sees add up.
$seen = fork_run(4, function (int $i, callable $say, callable $hear) use ($prefix) {
    $stock = new Stock(redis_server(), $prefix);
    if ($i === 0) {
        $wrong = [];
        for ($k = 0; $k < 500; $k++) {
            $n = $stock->counts('bag');
            $all = $n['available'] + $n['reserved'] + $n['sold'];
            if ($all !== 100 && $all !== 0 || min(array_slice($n, 1)) < 0) {
                $wrong[] = $n;
            }
        }
        return $wrong;
    }
    $i === 1 && $stock->restock('bag', 100);
    for ($k = 0, $bought = 0; $k < 200; $k++) {
        $reservation = $stock->reserve(['bag' => 1 + $k % 3], "buyer $i", (string) $k);
        $bought += $reservation !== null && $k % 4 === 0 && $reservation->confirm() ? $reservation->items['bag'] : 0;
        $k % 4 !== 0 && $reservation?->cancel();
    }
    return $bought;
});
same([], $seen[0], 'counts that do not add up');
$sold = $seen[1] + $seen[2] + $seen[3];
same([100 - $sold, 0, $sold, 0], counts('bag'), 'in the end');
echo "done\n";
?>
--EXPECT--
done
