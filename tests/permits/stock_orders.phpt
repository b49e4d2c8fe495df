--TEST--
Stock: orders, refunds, changes, closing, late payments and counts of many products, in memory, on one server, behind Sentinels with a replica that acknowledges, and in a cluster
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/replicated.inc';

use Dlock\LimitExceededException;
use Dlock\OrderConflictException;
use Dlock\OrderState;
use Dlock\OutOfStockException;
use Dlock\ReservationExpiredException;
use Dlock\SaleEndedException;
use Dlock\Stock;
use Dlock\UnknownProductException;

function counts(Stock $stock, string $sku): array
{
    return array_slice(array_values($stock->counts($sku)), 0, 5);
}

/** All calls on orders. */
function all_of_it(string $where, string $dsn, string $prefix): void
{
    $stock = new Stock($dsn, $prefix, perBuyer: 4);

    // An unknown product is told from one that is sold out.
    same(['unknown', 0, 0, 0, 0], counts($stock, 'shoe'), "$where: unknown");
    same(null, $stock->reserve('shoe', 'ann', '1'), 'null');
    fails(UnknownProductException::class, 'There is no stock of "shoe": nothing was ever put in', fn () => $stock->reserve('shoe', 'ann', '1', strict: true));
    fails(UnknownProductException::class, '*', fn () => $stock->close('shoe'));
    $stock->restock('shoe', 6, 'first');
    $stock->restock('hat', 6, 'first');

    // status() and order() have no side effects.
    $one = $stock->reserve(['shoe' => 2], 'ann/%', 'order 1');
    same([OrderState::Reserved, null], [$one->status(), $stock->reservation('shoe', 'ann/%', 'order 2')->status()], "$where: status()");
    $order = $stock->order('shoe', 'ann/%', 'order 1');
    same([OrderState::Reserved, ['shoe' => 2], 'ann/%', 'order 1'], [$order->state, $order->items, $order->buyer, $order->order], 'order()');
    within(590, $order->remaining, 600, 'what is left');
    within(time() + 580, $order->at, time() + 620, 'when it ends');
    same(null, $stock->order(['shoe' => 1, 'hat' => 1], 'ann/%', 'order 1'), 'an order of other products');

    // change(): all or nothing.
    $one->change(['shoe' => 4]);
    same([['shoe' => 4], ['open', 2, 4, 0, 0]], [$one->items, counts($stock, 'shoe')], "$where: change()");
    $limited = thrown_by(fn () => $one->change(['shoe' => 5]));
    same([LimitExceededException::class, 'shoe', 4, 4, 1], [$limited::class, $limited->sku, $limited->limit, $limited->has, $limited->asked], 'above the limit');
    $free = (new Stock($dsn, $prefix))->reservation('shoe', 'ann/%', 'order 1');
    fails(OutOfStockException::class, 'Too few units of "shoe" are available: the order "order 1" of "ann/%" stays as it was', fn () => $free->change(['shoe' => 9]));
    $one->change(['shoe' => 1]);
    same(['open', 5, 1, 0, 0], counts($stock, 'shoe'), 'less');
    $one->extend(900);
    within(880, $one->remaining(), 900, "$where: extend()");

    // refund(): all units, or a part that has a name.
    fails(OrderConflictException::class, 'The order "order 1" of "ann/%" is not sold: there is nothing to refund', fn () => $one->refund());
    $one->change(['shoe' => 3]);
    same([true, OrderState::Sold], [$one->confirm(), $one->status()], "$where: sold");
    $one->change(['shoe' => 3]); // as a request does that is sent again after a lost answer
    fails(ReservationExpiredException::class, '*: it is sold', fn () => $one->change(['shoe' => 2]), 'it is sold');
    same([true, false], [$one->refund(quantity: 1, change: 'back'), $one->refund(quantity: 1, change: 'back')], 'a part, once');
    same(['open', 4, 0, 2, 0], counts($stock, 'shoe'), 'for sale again');
    fails(OrderConflictException::class, 'The order "order 1" of "ann/%" has 2 units of "shoe"', fn () => $one->refund(quantity: 3, change: 'too many'));
    same([true, false, OrderState::Refunded], [$one->refund(false), $one->refund(), $one->status()], 'all of it, once');
    same(['open', 4, 0, 0, 0], counts($stock, 'shoe'), 'and gone');
    $refused = thrown_by(fn () => $one->confirm());
    same([ReservationExpiredException::class, OrderState::Refunded, 'refunded'], [$refused::class, $refused->state, $refused->reason], 'not to be bought any more');

    // A late payment buys while units are available, even after another buyer was refused.
    $late = over($stock, $stock->reserve(['shoe' => 2], 'bob', '1', ttl: 0.05));
    same([OrderState::Ended, ['open', 4, 0, 0, 0]], [$late->status(), counts($stock, 'shoe')], "$where: ended");
    $other = $stock->reserve(['shoe' => 1], 'cid', '1');
    same(null, $stock->reserve(['shoe' => 4], 'dan', '1'), 'a refusal');
    same(true, $late->confirm(), 'paid late, although somebody else was refused');
    $late = over($stock, $stock->reserve('shoe', 'bob', '2', ttl: 0.05));
    $stock->reserve('shoe', 'cid', '2');
    $refused = thrown_by(fn () => $late->confirm());
    same([OrderState::Ended, 'ended', true], [$refused->state, $refused->reason, $refused->since > 0], 'none is available');

    // An order whose name is reserved again is another order.
    $other->cancel();
    $again = $stock->reserve('shoe', 'cid', '1');
    same([false, true], [$other->cancel(), $again->status() === OrderState::Reserved], "$where: a late cancel()");
    $refused = thrown_by(fn () => $other->confirm());
    same([null, 'superseded'], [$refused->state, $refused->reason], 'nor is it bought');
    same(true, $stock->reservation('shoe', 'cid', '1')->confirm(), 'by its name, it is the last one');

    // The sale is closed, opened, ended.
    $held = $stock->reserve('hat', 'ann', '1');
    $late = over($stock, $stock->reserve('hat', 'bob', '1', ttl: 0.05));
    $ends = over($stock, $stock->reserve('hat', 'bob', '2', ttl: 0.05));
    $stock->close('hat');
    same([null, 'closed', true], [$stock->reserve('hat', 'cid', '1'), $stock->counts('hat')['state'], $late->confirm()], "$where: close()");
    $stock->open('hat');
    same(['hat' => 1], $stock->reserve('hat', 'cid', '1')?->items, 'open()');
    $stock->end('hat');
    same([null, 'ended', true], [$stock->reserve('hat', 'dan', '1'), $stock->counts('hat')['state'], $held->confirm()], 'end()');
    fails(ReservationExpiredException::class, '*its time ended*nothing was bought', fn () => $ends->confirm(), 'late payments are refused');
    fails(SaleEndedException::class, 'The sale of "hat" has ended', fn () => $stock->open('hat'));

    // counts() of many products; orders(), page by page.
    $counts = $stock->counts(['shoe', 'hat', 'none'], confirmed: true);
    same([['shoe', 'hat', 'none'], 'unknown', $stock->counts('hat')], [array_keys($counts), $counts['none']['state'], $counts['hat']], "$where: counts() of many");
    $found = [];
    $after = null;
    do {
        $page = $stock->orders('shoe', limit: 2, after: $after);
        holds(count($page->orders) <= 2, 'no more than asked for', $page);
        foreach ($page as $order) {
            $found["$order->buyer $order->order"] = [$order->state->value, $order->items['shoe']];
        }
        $after = $page->next;
    } while ($after !== null);
    ksort($found);
    same(['ann/% order 1' => ['refunded', 2], 'bob 1' => ['sold', 2], 'bob 2' => ['ended', 1], 'cid 1' => ['sold', 1], 'cid 2' => ['reserved', 1]], $found, 'orders()');
    $sold = fn (float $since, ?string $buyer = null) => array_map(fn ($order) => $order->buyer, $stock->orders('shoe', $buyer, OrderState::Sold, $since)->orders);
    same([['bob', 'cid'], ['cid'], []], [$sold(time() - 600), $sold(0.0, 'cid'), $sold(time() + 600)], 'by state, buyer and time');
}

all_of_it('memory', 'memory://', 'orders:');
all_of_it('one server', redis_server(), unique('orders') . ':');
$sentinels = new SentinelSet(1, downAfter: 60_000);
all_of_it('Sentinels', $sentinels->dsn([]), 'orders:');
$cluster = new ClusterSet(3, 0, timeout: 60_000);
all_of_it('a cluster', $cluster->dsn(['replicas' => 0]), '{orders}:');
$many = new Stock($cluster->dsn(['replicas' => 0]), 'many:');
foreach (['a', 'b', 'c', 'd'] as $i => $sku) {
    $many->restock($sku, $i + 1);
}
same([1, 2, 3, 4], array_column($many->counts(['a', 'b', 'c', 'd']), 'available'), 'counts() over several slots');

// Answered calls survive a failover: orders, refunds, and their generations.
$stock = new Stock($sentinels->dsn([]), 'over:');
$stock->restock('shoe', 5, 'first');
$cancelled = $stock->reserve('shoe', 'ann', '1');
$cancelled->cancel();
$anew = $stock->reserve('shoe', 'ann', '1');
$refunded = $stock->reserve('shoe', 'bob', '1');
$refunded->confirm();
$refunded->refund();
$sentinels->failOver();
/** Asks again while the new master has no replica yet. */
function sure(callable $ask): mixed
{
    for ($deadline = now() + 60; ; pause(0.05)) {
        try {
            return $ask();
        } catch (Dlock\ConnectionException $e) {
            now() < $deadline || throw $e;
        }
    }
}
same([OrderState::Reserved, OrderState::Refunded], [sure($anew->status(...)), sure($refunded->status(...))], 'after a fail-over');
same([false, 'superseded'], [sure($cancelled->cancel(...)), thrown_by(fn () => sure($cancelled->confirm(...)))?->reason], 'an earlier object');
same([true, ['open', 4, 0, 1, 0]], [sure($anew->confirm(...)), sure(fn () => counts($stock, 'shoe'))], 'bought there');

// An answer of a master that no replica has acknowledged for a second is no refusal: the master may have been replaced
// meanwhile.
$sentinels->waitUntilWell();
$stock = new Stock($sentinels->dsn([]), 'alone:');
sure(fn () => $stock->restock('shoe', 1, 'first'));
sure(fn () => sure(fn () => $stock->reserve('shoe', 'ann', '1'))->confirm());
same(null, sure(fn () => $stock->reserve('shoe', 'bob', '1')), 'sold out, at a master that has its replica');
$limited = new Stock($sentinels->dsn([]), 'alone:', perBuyer: 1);
sure(fn () => $limited->restock('sock', 2, 'first'));
sure(fn () => $limited->reserve('sock', 'ann', '1'));
$replicas = array_filter($sentinels->servers, fn (ReplicatedRedis $server) => $server !== $sentinels->master());
foreach ($replicas as $replica) {
    $replica->pause();
}
pause(1.1);
foreach (['reserve()' => fn () => $stock->reserve('shoe', 'bob', '1'), 'reserve() above the limit' => fn () => $limited->reserve('sock', 'ann', '2'), 'counts()' => fn () => $stock->counts('shoe', confirmed: true),
    'order()' => fn () => $stock->order('shoe', 'bob', '1')] as $what => $ask) {
    fails(Dlock\ConnectionException::class, '*', $ask, "$what of one that has none");
}
same(1, $stock->counts('shoe')['sold'], 'a look that nobody relies on');
foreach ($replicas as $replica) {
    $replica->resume();
}
same(null, sure(fn () => $stock->reserve('shoe', 'bob', '1')), 'sold out, confirmed again');
same(LimitExceededException::class, get_class(thrown_by(fn () => sure(fn () => $limited->reserve('sock', 'ann', '2')))), 'above the limit, confirmed again');

// What another client has written since the replicas last acknowledged something does not count, either.
$writer = new Stock($sentinels->dsn(['replicas' => 0]), 'alone:');
sure(fn () => $stock->restock('glove', 9, 'first'));
foreach (['counts()' => fn (string $order) => $stock->counts('glove', confirmed: true), 'order()' => fn (string $order) => $stock->order('glove', 'bob', $order), 'orders()' => fn (string $order) => $stock->orders('glove')] as $what => $ask) {
    sure(fn () => $ask($what)); // the server has its script from now on, and answers at once
    sure(fn () => $stock->reserve('glove', 'ann', $what));
    foreach ($replicas as $replica) {
        $replica->pause();
    }
    same(true, $writer->reserve('glove', 'bob', $what)?->confirm(), 'bought, and no replica knows');
    fails(Dlock\ConnectionException::class, '*', fn () => $ask($what), "$what that no replica has");
    foreach ($replicas as $replica) {
        $replica->resume();
    }
}

// Dlock\stats() counts the calls.
$stats = Dlock\stats();
holds(min(array_map(fn (string $name) => $stats[$name], ['reservations', 'reservations_refused', 'sales', 'late_sales', 'cancellations', 'refunds', 'expired_refusals'])) > 0,
    'stats()', $stats);
echo "done\n";
?>
--EXPECT--
done
