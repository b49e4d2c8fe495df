<?php
/*
 * A sale whose lock is on a Redis behind three Sentinels. The script kills the master in the middle, and Sentinel
 * promotes a replica. php sale.php STOCK LEASE SVG, with the extension: units, lease time in s, file for the plot.
 */
declare(strict_types=1);

require_once __DIR__ . '/../../tests/inc/replicated.inc';
require_once __DIR__ . '/Shop.php';
require_once __DIR__ . '/plot.php';

/** Processes that sell. */
const SELLERS = 8;

/** @return array{sold: int, lost: int, errors: int} what a seller did until all was sold */
function sell_all(Shop $shop, DistributedLock $locks, int $number): array
{
    $done = ['sold' => 0, 'lost' => 0, 'errors' => 0];
    for ($customer = $number; ; $customer += SELLERS) {
        try {
            if (!$locks->synchronized('goods:camera', fn (Dlock\Lease $lease) => $shop->sell($customer, $lease), timeout: 60)) {
                return $done;
            }
            $done['sold']++;
        } catch (Dlock\LeaseLostException) {
            $done['lost']++; // nothing was sold: the seller continues with the next customer
        } catch (Dlock\DlockException) {
            $done['errors']++;
        }
    }
}

/** Holds its own lock until SIGTERM, and returns whether it held the lock all the time. */
function take_stock(DistributedLock $locks, callable $say): bool
{
    $lease = $locks->acquire('stocktaking', timeout: 60);
    $say($lease->token);
    $ends = false;
    pcntl_signal(SIGTERM, function () use (&$ends) {
        $ends = true;
    });
    while (!$ends && $lease->isHeld()) {
        pause(0.01);
    }
    return $lease->release() && $ends;
}

function say(string $what): void
{
    echo "fail-over: $what\n";
}

[, $stock, $lease, $picture] = $argv;
pcntl_async_signals(true);
foreach ([SIGTERM, SIGINT, SIGHUP] as $signal) {
    pcntl_signal($signal, fn (int $signal) => exit(128 + $signal)); // so that the processes that it has started end, too
}
$stock = (int) $stock;
$shop = new Shop(temporary_directory());
$shop->open($stock);

say('starting a Redis with two replicas and three Sentinels');
$redis = new SentinelSet(downAfter: 2000);
// No lease is longer than the guard. For that time a new set grants no lock, nor does a promoted server that may not
// know all leases.
$locks = new DistributedLock($redis->dsn(['replicas' => 1, 'guard' => $lease]), ttl: (float) $lease);

say("a new set grants no lock in its first $lease s");
$children = [$stocktaker = fork_child(fn ($say) => take_stock($locks, $say))];
at_end(function () use (&$children) {
    array_map(fn ($child) => $child->kill(), $children);
});
$token = $stocktaker->hear(60 + 2 * (float) $lease);
say("$stock cameras, " . SELLERS . ' sellers. One more process holds another lock all the time, for stocktaking');
for ($i = 1; $i <= SELLERS; $i++) {
    $children[] = fork_child(fn () => sell_all($shop, $locks, $i));
}

wait_for(fn () => count($shop->orders()) >= $stock / 2, 120, 'half of the stock to be sold');
$old = $redis->master();
$killed = now();
$old->kill();
say("half is sold: the master ({$old->address()}) was killed");
$sentinel = $redis->sentinels[0]->raw();
wait_for(fn () => $sentinel->cmd('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', SentinelSet::SERVICE)[1] !== (string) $old->port, 60, 'Sentinel to switch');
$switched = now();
say("Sentinel names another master ({$redis->waitForFailOver($old)->address()})");

$sums = ['sold' => 0, 'lost' => 0, 'errors' => 0];
foreach (array_slice($children, 1) as $seller) {
    foreach ($seller->result(180 + 2 * (float) $lease) as $what => $number) {
        $sums[$what] += $number;
    }
}
$replies = $sentinel->cmd('SENTINEL', 'MASTER', SentinelSet::SERVICE);
$switches = (int) $replies[array_search('config-epoch', $replies, true) + 1]; // each failover raises it by one, from 0
$is_there = $redis->master()->raw()->cmd('GET', 'Lock:stocktaking') === $token;
$stocktaker->signal(SIGTERM);
$kept = $stocktaker->result() && $is_there;

$orders = $shop->orders();
$times = array_map(fn (array $order) => $order['time'] - $killed, $orders);
$later = array_filter($times, fn (float $time) => $time > $switched - $killed);
$went_on = $later ? min($later) : throw new RuntimeException('nothing was sold after the fail-over');
$gap = max(array_map(fn (float $a, float $b) => $b - $a, array_slice($times, 0, -1), array_slice($times, 1)));
$tokens = $rising = array_column($orders, 'token');
sort($rising);
$is_right = $sums['sold'] === $stock && array_column($orders, 'left') === range($stock - 1, 0) && $tokens === $rising;

$events = ['master killed' => 0.0, 'Sentinel switched' => $switched - $killed, 'sales go on' => $went_on];
echo "\n", text_plot($times, $events), "\n";
file_put_contents($picture, svg_plot("$stock cameras, sold over a fail-over", $times, $events));
printf("sold: %d of %d%s, fencing tokens %s\n", count($orders), $stock, $is_right ? ', each of them once' : '', $tokens === $rising ? 'rise' : 'FALL');
printf("Sentinel switched %.1f s after the master was killed, and sales went on %.1f s after that: %.1f s without sales\n", $switched - $killed, $went_on - ($switched - $killed), $gap);
$switches > 1 && printf("Sentinel switched %d times\n", $switches);
printf("the lock for stocktaking was %s over the fail-over\n", $kept ? 'kept' : 'LOST');
printf("sellers that lost their lock in the middle of a sale, and asked again: %d; other errors: %d\n", $sums['lost'], $sums['errors']);
echo "plot: $picture\n";
exit($is_right && $kept ? 0 : 1);
