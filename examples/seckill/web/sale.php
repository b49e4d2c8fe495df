<?php
/* POST /sale: opens a sale, and calls the crowd. */
declare(strict_types=1);

require_once __DIR__ . '/../shop/common.php';

function number(string $name, int $min, int $max): int
{
    $number = filter_var($_POST[$name] ?? '', FILTER_VALIDATE_INT, ['options' => ['min_range' => $min, 'max_range' => $max]]);
    return $number !== false ? $number : answer(400, ['error' => "$name: must be a number from $min to $max"]);
}

$_SERVER['REQUEST_METHOD'] === 'POST' || answer(405, ['error' => 'POST, please']);
$lock = $_POST['lock'] ?? '';
in_array($lock, lock_names(), true) || answer(400, ['error' => 'lock: must be one of ' . implode(', ', lock_names())]);
$stock = number('stock', 1, 1000);
$buyers = number('buyers', 1, 2000);
$payment = number('payment', 0, 1000);
$hangs = number('hangs', 0, 1);
$fails = number('fails', 0, 1);

$redis = database();
$id = bin2hex(random_bytes(8));
// The crowd deletes this key when the last buyer has an answer.
$redis->set('sale:open', $id, ['nx']) || answer(409, ['error' => 'a sale is under way']);

Shop::open($redis, GOODS, $stock, PRICE, $buyers);
$lock !== 'Stock' || open_stock(GOODS, $stock);
// One transaction, so that a page that opens meanwhile sees either the old sale or the new one.
$redis->multi();
$redis->del('sale', 'payments', 'watch:workers', 'watch:visits');
$redis->hMSet('sale', [
    'id' => $id, 'lock' => $lock, 'stock' => $stock, 'buyers' => $buyers, 'payment' => $payment, 'hangs' => $hangs, 'fails' => $fails,
]);
$redis->exec();
$redis->rPush('crowd', $id);
answer(201, ['id' => $id]);
