<?php
/* A request of fpm.php: acquires and releases a lock in one of the ways of ways.php, or does neither. It answers with
 * the worker's pid. */
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
