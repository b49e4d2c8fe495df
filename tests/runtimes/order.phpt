--TEST--
Runtimes: twenty strands on one lock, of each kind, hold it one after the other, in order; other strands run beside them
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

Strands::install();
const COUNT = 20;

/** The process' descriptors that lead to an eventfd. */
function eventfds(): int
{
    return count(array_filter(glob('/proc/self/fd/*'), fn (string $fd) => str_contains((string) @readlink($fd), 'event')));
}

/** Each holds in turn. @return list<int> in which order */
function in_turn(string $name, bool $isFair, Closure $with): array
{
    $order = [];
    $inside = $ticks = 0;
    $left = COUNT;
    Strands::$suspensions = 0;
    for ($i = 0; $i < COUNT; $i++) {
        Strands::spawn(function () use ($name, $with, $i, &$order, &$inside, &$ticks, &$left) {
            $with(function () use ($name, $i, &$order, &$inside, &$ticks) {
                same(1, ++$inside, "$name: inside");
                for ($before = $ticks; $ticks === $before;) { // other strands run meanwhile
                    Strands::pause(0.001);
                }
                $order[] = $i;
                $inside--;
            });
            $left--;
        });
    }
    Strands::spawn(function () use (&$ticks, &$left) {
        for (; $left > 0; $ticks++) {
            Strands::pause(0.001);
        }
    });
    Strands::run();
    same(COUNT, count($order), "$name: all had it");
    $isFair && same(range(0, COUNT - 1), $order, "$name: in order");
    $isFair && holds(Strands::$suspensions <= 6 * COUNT, "$name: at most 6 suspensions each", Strands::$suspensions);
    return $order;
}

foreach (strand_kinds() as $name => $kind) {
    $manager = $kind->manager();
    $resource = unique($name);
    $section = fn (Closure $do) => $manager->synchronized($resource, $do, timeout: 60, ttl: $kind->ttl(30));
    // Connects, also for notifications, and creates ZooKeeper's node of the resource.
    Strands::spawn(fn () => $section(fn () => Strands::pause(0.01)));
    Strands::spawn(fn () => $section(fn () => null));
    Strands::run();
    for ($i = 0; $i < 2; $i++) {
        in_time(3, fn () => in_turn($name, $kind->isFair, $section)); // until then no waiter counts as dead
    }
    within(0, eventfds(), COUNT + 10, "$name: descriptors that are kept for the next waits");
    $kind->waitUntilGone($resource);
}

// Units of a stock.
$stock = new Dlock\Stock(redis_server());
$sku = unique('stock');
$stock->restock($sku, 1);
$number = 0;
in_time(3, fn () => in_turn('Stock', true, function (Closure $do) use ($stock, $sku, &$number) {
    $reservation = $stock->reserve($sku, 'buyer-' . ++$number, 'order', timeout: 60);
    $do();
    $reservation->cancel();
}));
same(1, $stock->counts($sku)['available'], 'Stock: all units are available again');
echo "done\n";
?>
--EXPECT--
done
