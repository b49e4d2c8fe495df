--TEST--
Stock refuses wrong values with the argument's name; objects do not show passwords, and cannot be copied
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\Reservation;
use Dlock\Stock;

// The server.
fails(ValueError::class, 'Dlock\Stock::__construct(): Argument #1 ($server) must name Redis: on memcached, a stock is not offered', fn () => new Stock('memcached://127.0.0.1'));
fails(ValueError::class, '*Argument #1 ($server) must be one server or service: on several*RedLock*', fn () => new Stock(redis_servers(3)));
fails(ValueError::class, '*Argument #1 ($server) must be one server or service*', fn () => new Stock([['127.0.0.1', 6379], ['127.0.0.1', 6380]]));
fails(ValueError::class, '*Argument #1 ($server) *', fn () => new Stock('nowhere'));
ini_set('dlock.server', 'memcached://127.0.0.1');
fails(ValueError::class, '*Argument #1 ($server) must name Redis*(it is null, and dlock.server names no Redis)', fn () => new Stock());
ini_set('dlock.server', redis_server());
same(null, thrown_by(fn () => new Stock()), 'dlock.server');
same(null, thrown_by(fn () => new Stock('redis://127.0.0.1:' . closed_port())), 'a constructor connects to nothing');

// The other arguments of the constructor.
foreach ([0.0, -1.0, 1e9, NAN] as $ttl) {
    fails(ValueError::class, '*Argument #3 ($ttl) must be between 0.003 and 31536000 seconds', fn () => new Stock(ttl: $ttl));
}
foreach ([0, -1, 1000000000] as $limit) {
    fails(ValueError::class, '*Argument #4 ($perBuyer) must be null or between 1 and 999999999', fn () => new Stock(perBuyer: $limit));
}

foreach (['', 'first', 'FIFO'] as $fairness) {
    fails(ValueError::class, '*Argument #5 ($fairness) must be either "fit" or "fifo"', fn () => new Stock(fairness: $fairness));
}
foreach ([0.0, -1.0, 1e9, NAN] as $remember) {
    fails(ValueError::class, '*Argument #6 ($remember) must be between 1 and 31536000 seconds', fn () => new Stock(remember: $remember));
}

// Names.
$stock = new Stock(redis_server(), unique('arguments') . ':');
$long = str_repeat('n', 256);
foreach (['', $long] as $bad) {
    fails(ValueError::class, 'Dlock\Stock::reserve(): Argument #1 ($items) must be between 1 and 255 bytes long', fn () => $stock->reserve($bad, 'b', 'r'));
    fails(ValueError::class, '*reserve(): Argument #2 ($buyer) must be between 1 and 255 bytes long', fn () => $stock->reserve('a', $bad, 'r'));
    fails(ValueError::class, '*reserve(): Argument #3 ($order) must be between 1 and 255 bytes long', fn () => $stock->reserve('a', 'b', $bad));
    fails(ValueError::class, '*reservation(): Argument #2 ($buyer) must be between 1 and 255 bytes long', fn () => $stock->reservation('a', $bad, 'r'));
    fails(ValueError::class, '*restock(): Argument #1 ($sku) must be between 1 and 255 bytes long', fn () => $stock->restock($bad, 1));
    fails(ValueError::class, '*restock(): Argument #3 ($change) must be between 1 and 255 bytes long', fn () => $stock->restock('a', 1, $bad));
    fails(ValueError::class, '*counts(): Argument #1 ($sku) must be between 1 and 255 bytes long', fn () => $stock->counts($bad));
    fails(ValueError::class, '*reserve(): Argument #1 ($items) must have SKUs between 1 and 255 bytes long as keys', fn () => $stock->reserve([$bad => 1], 'b', 'r'));
}
fails(ValueError::class, '*Argument #1 ($sku) must not make the key "dlock:fence"*', fn () => (new Stock(redis_server(), ''))->counts('dlock:fence'));

// Quantities.
foreach ([0, 1000000000, -1000000000, PHP_INT_MIN] as $pieces) {
    fails(ValueError::class, '*restock(): Argument #2 ($quantity) must be between -999999999 and 999999999, and not 0', fn () => $stock->restock('a', $pieces));
}
foreach ([0, -1, 1000000000] as $pieces) {
    fails(ValueError::class, '*Argument #1 ($items) must have quantities between 1 and 999999999', fn () => $stock->reserve(['a' => 1, 'b' => $pieces], 'b', 'r'));
}
fails(TypeError::class, '*Argument #1 ($items) must have quantities of type int by SKU, string given', fn () => $stock->reserve(['a', 'b'], 'b', 'r'));
fails(ValueError::class, '*Argument #1 ($items) must be a SKU, or have quantities by SKU, of 1 to 16 products', fn () => $stock->reserve([], 'b', 'r'));
fails(ValueError::class, '*of 1 to 16 products', fn () => $stock->reserve(array_fill(0, 17, 1), 'b', 'r'));
fails(ValueError::class, '*Argument #4 ($timeout) must be between 0 and 31536000 seconds', fn () => $stock->reserve('a', 'b', 'r', -1.0));
fails(ValueError::class, '*Argument #5 ($ttl) must be between 0.003 and 31536000 seconds', fn () => $stock->reserve('a', 'b', 'r', 0.0, 0.0));
fails(ValueError::class, '*counts(): Argument #1 ($sku) must be a SKU, or a list of 1 to 16 of them', fn () => $stock->counts([]));
fails(TypeError::class, '*counts(): Argument #1 ($sku) must be a list of strings, int given', fn () => $stock->counts([1]));
fails(ValueError::class, '*orders(): Argument #5 ($limit) must be between 1 and 1000', fn () => $stock->orders('a', limit: 0));
fails(ValueError::class, '*orders(): Argument #4 ($since) must be 0 without a $state', fn () => $stock->orders('a', since: 1.0));
fails(ValueError::class, '*orders(): Argument #4 ($since) must be a Unix time', fn () => $stock->orders('a', state: Dlock\OrderState::Sold, since: NAN));
foreach (['', ' ', '1', '1 a', 'x a/b', "1 a/b\0"] as $after) {
    fails(ValueError::class, '*orders(): Argument #6 ($after) must be null or the $next of a page', fn () => $stock->orders('a', after: $after));
}
$named = $stock->reservation('a', 'b', 'r');
foreach ([0, -1, 1000000000] as $quantity) {
    fails(ValueError::class, '*refund(): Argument #2 ($quantity) must be null or between 1 and 999999999', fn () => $named->refund(quantity: $quantity, change: 'c'));
}
// Also without strict_types: 1 would be true, and refund all units.
eval('$weak = fn ($order, $units) => $order->refund($units);');
foreach ([1, 0, '1', null] as $units) {
    fails(TypeError::class, '*refund(): Argument #1 ($restock) must be of type bool, * given', fn () => $weak($named, $units));
}
fails(ValueError::class, '*refund(): Argument #3 ($change) must be given with a $quantity, so that the refund is made once', fn () => $named->refund(quantity: 1));
fails(ValueError::class, '*refund(): Argument #2 ($quantity) must be null for an order of several products', fn () => $stock->reservation(['a' => 1, 'b' => 1], 'b', 'r')->refund(true, 1, 'c'));
fails(ValueError::class, '*change(): Argument #1 ($items) must have quantities for the products of the order, all of them and no others', fn () => $named->change(['b' => 1]));
fails(ValueError::class, '*change(): Argument #1 ($items) must have quantities between 1 and 999999999', fn () => $named->change(['a' => 0]));
fails(ValueError::class, '*extend(): Argument #1 ($ttl) must be between 0.003 and 31536000 seconds', fn () => $stock->reservation('a', 'b', 'r')->extend(0.0));
$cluster = new Stock('cluster://127.0.0.1:' . closed_port());
fails(ValueError::class, '*Argument #1 ($items) must have products that share a hash slot of the cluster*', fn () => $cluster->reserve(['a' => 1, 'b' => 1], 'b', 'r'));
fails(Dlock\ConnectionException::class, '*', fn () => (new Stock('cluster://127.0.0.1:' . closed_port(), '{sale}:'))->reserve(['a' => 1, 'b' => 1], 'b', 'r'));

// All bytes, names of 255 bytes, SKUs that are numbers.
$any = implode('', array_map('chr', range(0, 254)));
same(3, $stock->restock($any, 3, $any), 'a SKU of 255 bytes');
same([$any => 1], $stock->reserve($any, $any, $any)?->items, 'all of them');
same(true, $stock->reservation($any, $any, $any)->confirm(), 'bought');
$stock->restock('7', 5);
$numbers = $stock->reserve([7 => 2], 'b/1', '2');
same([7 => 2], $numbers->items, 'a SKU that is a number');
fails(Dlock\ReservationExpiredException::class, '*', fn () => $stock->reservation('7', 'b', '1/2')->confirm(), 'a slash is no border');
same(true, $stock->reservation('7', 'b/1', '2')->cancel(), 'found by its number');

// Objects.
$reservation = $stock->reserve('7', 'ann', 'order');
foreach ([$stock, $reservation] as $object) {
    $class = $object::class;
    fails(Error::class, "Trying to clone an uncloneable object of class $class", fn () => clone $object);
    fails(Exception::class, "Serialization of '$class' is not allowed", fn () => serialize($object));
    fails(Error::class, "Cannot create dynamic property $class::\$more", fn () => $object->more = 1);
}
fails(Error::class, 'Cannot modify readonly property Dlock\Reservation::$buyer', fn () => $reservation->buyer = 'bob');
fails(Error::class, 'Call to private Dlock\Reservation::__construct()*', fn () => new Reservation());
$empty = (new ReflectionClass(Stock::class))->getShortName() === 'Stock' ? thrown_by(fn () => (new ReflectionClass(Stock::class))->newInstanceWithoutConstructor()) : null;
holds($empty instanceof ReflectionException, 'no stock without its constructor', $empty);
fails(Error::class, 'Dlock\Stock::__construct() has been called already', fn () => $stock->__construct(redis_server()));

ob_start();
var_dump(new Stock('redis://ann:s3cr3t@127.0.0.1?read_timeout=2', perBuyer: 2), $reservation);
$shown = ob_get_clean();
hides(['s3cr3t', "\0Dlock"], $shown, 'var_dump()');
foreach (['"127.0.0.1:6379"', '["perBuyer"]', 'int(2)', '["ttl"]', '["remaining"]', '"ann"', '"order"', '["fencingToken"]'] as $part) {
    holds(str_contains($shown, $part), "var_dump() has $part", $shown);
}
$secret = thrown_by(fn () => new Stock('redis://ann:s3cr3t@127.0.0.1:0'));
hides(PHP_VERSION_ID < 80200 ? [] : ['s3cr3t'], (string) $secret, 'a trace');
echo "done\n";
?>
--EXPECT--
done
