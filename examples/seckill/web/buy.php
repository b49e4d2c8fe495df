<?php
/* POST /buy, with the number of a customer: buys one unit. */
declare(strict_types=1);

require_once __DIR__ . '/../shop/common.php';

$customer = filter_var($_POST['customer'] ?? '', FILTER_VALIDATE_INT, ['options' => ['min_range' => 1]]);
$customer !== false || answer(400, ['error' => 'customer: must be a number']);

$redis = database();
$sale = $redis->hGetAll('sale');
isset($sale['began']) || answer(409, ['error' => 'there is no sale']);

$shop = new Shop($redis, new Payment($redis, (int) $sale['payment'], $sale['hangs'] === '1', $sale['fails'] === '1'));
$watch = new Watch($redis, (int) $sale['began']);
$outcome = 'failed';
$order = null;
try {
    $order = $sale['lock'] === 'Stock' ? buy_reserved($shop, $watch, $customer) : buy_locked(lock_named($sale['lock']), $shop, $watch, $customer);
    $outcome = $order === null ? 'sold out' : 'sold';
} catch (NotPaid) {
    $outcome = 'not paid';
} catch (Dlock\AcquireTimeoutException | NotLocked) {
    $outcome = 'gave up';
} finally {
    $watch->ends($outcome, $order['left'] ?? null);
}

match ($outcome) {
    'sold' => answer(201, $order),
    'sold out' => answer(410, ['error' => 'sold out']),
    'not paid' => answer(402, ['error' => 'not paid in time']),
    'gave up' => answer(503, ['error' => 'too many buyers, try again']),
};

function buy_locked(Closure $synchronized, Shop $shop, Watch $watch, int $customer): ?array
{
    return $synchronized('goods:' . GOODS, function (?Dlock\Lease $lease) use ($shop, $watch, $customer): ?array {
        $watch->enters($lease?->fencingToken);
        try {
            return $shop->sell(GOODS, $customer, $lease);
        } finally {
            $watch->leaves();
        }
    });
}

function buy_reserved(Shop $shop, Watch $watch, int $customer): ?array
{
    try {
        return $shop->sellReserved(stock(), GOODS, $customer, $watch->enters(...));
    } finally {
        $watch->leaves();
    }
}
