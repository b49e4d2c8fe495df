<?php
/* GET /orders: all orders of this sale, first to last. */
declare(strict_types=1);

require_once __DIR__ . '/../shop/common.php';

answer(200, '[' . implode(',', database()->lRange('orders:' . GOODS, 0, -1)) . ']');
