<?php
/* GET /shop: the choices that the page offers. */
declare(strict_types=1);

require_once __DIR__ . '/../shop/common.php';

answer(200, [
    'locks' => lock_names(),
    'workers' => (int) getenv('SHOP_WORKERS'),
    'lease' => LEASE,
    'hangsEvery' => Payment::HANGS_EVERY,
    'hangsFor' => Payment::HANGS_FOR,
    'failsEvery' => Payment::FAILS_EVERY,
]);
