<?php
/* What the pages and the crowd share. */
declare(strict_types=1);

require_once __DIR__ . '/Payment.php';
require_once __DIR__ . '/Shop.php';
require_once __DIR__ . '/Watch.php';
require_once __DIR__ . '/locks.php';

const GOODS = 'camera';
const PRICE = 8900; // cents

/** The shop's database. The locks are on other servers. */
function database(): Redis
{
    $redis = new Redis();
    $redis->pconnect((string) getenv('SHOP_REDIS'));
    return $redis;
}

function answer(int $status, mixed $body): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    header('Cache-Control: no-store');
    echo is_string($body) ? $body : json_encode($body), "\n";
    exit;
}
