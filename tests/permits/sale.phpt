--TEST--
Stock: a sale whose buyers and server are killed sells exactly the stock, never more in between, and no buyer exceeds its limit
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/lease.inc';
require __DIR__ . '/../inc/sale.inc';

// scripts/sale.sh has larger numbers.
$processes = (int) amount('DLOCK_SALE_PROCESSES', 40);
$pieces = (int) amount('DLOCK_SALE_PIECES', 300);
$requests = (int) amount('DLOCK_SALE_REQUESTS', 6000);
$server = redis_private(['appendonly yes', 'appendfsync always']);
$sale = new Sale($server, $processes, $pieces, $requests, kill: (float) amount('DLOCK_SALE_KILL', 0.1), restart: (float) amount('DLOCK_SALE_RESTART', 0.4), most_restarts: (int) amount('DLOCK_SALE_RESTARTS', 2));
$start = now();
$wrong = $sale->run();
$took = now() - $start;
same([], array_slice($wrong, 0, 10), 'what the watcher saw');
same(['available' => 0, 'reserved' => 0, 'sold' => $pieces], array_slice($sale->stock()->counts(Sale::SKU), 1, 3), 'when the dust has settled');

$bought = $sale->bought();
same($pieces, array_sum($bought), 'bought, as the server says');
$by_buyer = [];
foreach ($bought as $order => $count) {
    $buyer = strstr($order, '/', true);
    $by_buyer[$buyer] = ($by_buyer[$buyer] ?? 0) + $count;
}
holds(max($by_buyer) <= Sale::LIMIT, 'nobody has more than it may', max($by_buyer));

$told = $sale->told();
$outcomes = array_count_values(array_column($told, 0));
same(0, $outcomes['failed'] ?? 0, 'buyers that failed');
$by_outcome = fn (string $outcome) => array_column(array_filter($told, fn (array $line) => $line[0] === $outcome), 1);
same([], array_diff($by_outcome('bought'), array_keys($bought)), 'told that it was bought, and it was not');
same([], array_intersect($by_outcome('cancelled'), array_keys($bought)), 'told that it was given back, and it was bought');
same([], array_intersect($by_outcome('expired'), array_keys($bought)), 'told that it was lost, and it was bought');
holds(($outcomes['cancelled'] ?? 0) > 0 && ($outcomes['limited'] ?? 0) > 0 && ($outcomes['none'] ?? 0) > 0, 'all of it has happened', $outcomes);
holds($sale->killed > 0 && $sale->killedThemselves > 0 && $sale->restarts > 0, 'buyers and the server were killed', $sale->killed, $sale->killedThemselves, $sale->restarts);
if (getenv('DLOCK_SALE_REPORT')) {
    file_put_contents(getenv('DLOCK_SALE_REPORT'), sprintf("%d pieces, %d requests of %d processes, in %.0f s: %s; %d buyers were killed by others, %d by themselves between reserve and"
        . " confirm, the server %d times; the watcher looked %d times\n", $pieces, $requests, $processes, $took, json_encode($outcomes), $sale->killed,
        $sale->killedThemselves, $sale->restarts, $sale->looks));
}
echo "done\n";
?>
--EXPECT--
done
