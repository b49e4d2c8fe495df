--TEST--
Stock: a random walk through its calls agrees with a model, on memory:// with a clock that is moved, and on Redis
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/stock_contract.inc';

// DLOCK_STOCK_SEED: that seed only.
$seen = [];
foreach (['memory://' => [range(1, 30), 1000], redis_server() => [range(1, 4), 1000]] as $server => [$seeds, $steps]) {
    foreach (getenv('DLOCK_STOCK_SEED') ? [(int) getenv('DLOCK_STOCK_SEED')] : $seeds as $seed) {
        $walk = new StockContract($server, unique("walk $seed") . ':', $seed, $server === 'memory://');
        try {
            $walk->run($steps);
        } catch (Exception $e) {
            echo "$server, seed $seed: {$e->getMessage()}\n";
        }
        foreach ($walk->seen as $what => $times) {
            $seen[$what] = ($seen[$what] ?? 0) + $times;
        }
    }
}
// A walk must reach each of these outcomes, otherwise it says nothing about them.
$does = ['confirm: true', 'confirm: false', 'cancel: true', 'cancel: false', 'extend: NULL', 'change: NULL', 'refund: true', 'refund: false', 'close: NULL', 'open: NULL',
    'reserve: an object', 'reserve: NULL', 'reserve: OrderConflictException', 'reserve: LimitExceededException', 'change: LimitExceededException', 'change: OutOfStockException',
    'confirm: ended', 'confirm: limit', 'confirm: unknown', 'open: UnknownProductException', 'orders'];
foreach (['confirm', 'extend', 'change'] as $call) {
    array_push($does, ...array_map(fn (string $why) => "$call: $why", ['cancelled', 'refunded', 'superseded', 'OrderConflictException']));
}
foreach ($does as $what) {
    if (!getenv('DLOCK_STOCK_SEED') && ($seen[$what] ?? 0) === 0) {
        echo "$what: never\n";
    }
}
?>
done
--EXPECT--
done
