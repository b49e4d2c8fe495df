<?php
/* GET /state?sale=ID&from=N: the state of the sale, with the visits from the Nth on. If ID is not the present
 * sale, with all visits. If a Stock sells, also its counts. */
declare(strict_types=1);

require_once __DIR__ . '/../shop/common.php';

$redis = database();
$sale = $redis->hGetAll('sale');
$from = ($sale['id'] ?? '') === ($_GET['sale'] ?? '') ? max(0, (int) ($_GET['from'] ?? 0)) : 0;
[$visits, $workers, $stock, $orders] = $redis->multi()
    ->lRange('watch:visits', $from, -1)
    ->hGetAll('watch:workers')
    ->get('stock:' . GOODS)
    ->lRange('orders:' . GOODS, -4, -1)
    ->exec();

$counts = ($sale['lock'] ?? '') === 'Stock' ? stock()->counts(GOODS) : null;
$began = (int) ($sale['began'] ?? 0);
answer(200, sprintf(
    '{"sale": %s, "now": %s, "stock": %d, "counts": %s, "workers": %s, "orders": [%s], "from": %d, "visits": [%s]}',
    json_encode($sale === [] ? null : [
        'id' => $sale['id'],
        'lock' => $sale['lock'],
        'stock' => (int) $sale['stock'],
        'buyers' => (int) $sale['buyers'],
        'payment' => (int) $sale['payment'],
        'hangs' => $sale['hangs'] === '1',
        'fails' => $sale['fails'] === '1',
        'began' => $began > 0,
        'ended' => isset($sale['ended']),
        'unexpected' => (int) ($sale['unexpected'] ?? 0),
    ]),
    json_encode($began > 0 ? round((hrtime(true) - $began) / 1e6, 2) : 0),
    $counts === null ? (int) $stock : $counts['available'] + $counts['reserved'],
    json_encode($counts),
    json_encode((object) array_map('json_decode', $workers)),
    implode(',', $orders),
    $from,
    implode(',', $visits),
));
