<?php
/* A request of fpm.php: takes a lock in one of the ways of ways.php and gives it back, or does neither. Answers with the worker's pid. */
declare(strict_types=1);

require_once __DIR__ . '/ways.php';

$result = 'ok';
if ($_GET['way'] !== '') {
    try {
        $give = ways()[$_GET['way']]()('per-request');
        $result = $give() ? 'ok' : 'the lock was lost';
    } catch (Throwable $e) {
        $result = $e::class . ": {$e->getMessage()}";
    }
}
echo getmypid(), ' ', $result;
