<?php
/* A sale of ten units to 24 buyers, each its own process: without a lock, under each kind of lock, and from a Stock. */
declare(strict_types=1);

const STOCK = 10;
const BUYERS = 24;

/**
 * @param list<string> $php how to run PHP with the extension
 * @return array{sold: int, refused: int, mean: float, longest: float, total: float} times in ms
 */
function sale(array $php, string $kind, int $think): array
{
    $file = tempnam(sys_get_temp_dir(), 'dlock-sale-');
    file_put_contents($file, (string) STOCK);
    $resource = 'sale-' . bin2hex(random_bytes(4));
    if ($kind === 'Stock') {
        (new Dlock\Stock('redis://' . explode(',', (string) getenv('DLOCK_TEST_REDIS'))[0]))->restock($resource, STOCK);
    }
    $buyers = [];
    for ($i = 0; $i < BUYERS; $i++) {
        $process = proc_open([...$php, __DIR__ . '/buyer.php', $kind, $file, $resource, (string) $think],
            [['pipe', 'r'], ['pipe', 'w']], $pipes);
        $buyers[] = [$process, ...$pipes];
    }
    foreach ($buyers as [, , $output]) {
        fgets($output) === "ready\n" || throw new RuntimeException("a buyer with $kind did not start");
    }

    $start = hrtime(true);
    foreach ($buyers as [, $input]) {
        fwrite($input, "go\n");
    }
    $results = [];
    foreach ($buyers as [, , $output]) {
        $results[] = json_decode((string) fgets($output), true) ?? throw new RuntimeException("a buyer with $kind failed");
    }
    $total = (hrtime(true) - $start) / 1e6;
    foreach ($buyers as [$process]) {
        proc_close($process);
    }
    unlink($file);

    $waits = array_column($results, 'waited');
    $sold = count(array_filter(array_column($results, 'sold')));
    return [
        'sold' => $sold,
        'refused' => BUYERS - $sold,
        'mean' => array_sum($waits) / BUYERS,
        'longest' => max($waits),
        'total' => $total,
    ];
}

function row(string ...$cells): string
{
    $line = pad($cells[0], 28, false);
    foreach (array_slice($cells, 1) as $cell) {
        $line .= pad($cell, 14, true);
    }
    return rtrim($line) . "\n";
}

/** Pads to a number of characters; mbstring may be absent. */
function pad(string $text, int $width, bool $left): string
{
    $spaces = str_repeat(' ', max(0, $width - preg_match_all('/./u', $text)));
    return $left ? $spaces . $text : $text . $spaces;
}

$php = [PHP_BINARY, ...array_slice($argv, 1)];
$think = 20;
$failed = false;

printf("\n%d units in stock, %d buyers at once. Each reads the stock, thinks, and writes it back less one.\n\n", STOCK, BUYERS);
echo row('lock', 'sold', 'refused', 'oversold', 'mean wait', 'longest wait', 'total');
echo str_repeat('─', 28 + 6 * 14), "\n";
foreach (['none', 'DistributedLock', 'memcached', 'RedLock', 'ZkLock', 'Stock'] as $kind) {
    if ($kind === 'ZkLock' && !class_exists('ZkLock')) {
        echo row('ZkLock', 'built without ZooKeeper');
        continue;
    }
    $sale = sale($php, $kind, $think);
    // Without a lock, a sale oversells only if buyers meet. A busy machine may run them one after the other.
    for ($more = 2; $kind === 'none' && $sale['sold'] <= STOCK && $more <= 32; $more *= 2) {
        $sale = sale($php, $kind, $think * $more);
    }
    $oversold = max(0, $sale['sold'] - STOCK);
    $right = $kind === 'none' ? $oversold > 0 : $sale['sold'] === STOCK;
    $failed = $failed || !$right;
    echo row(
        ['RedLock' => 'RedLock, 5 servers', 'memcached' => 'DistributedLock on memcached', 'Stock' => 'Stock, without a lock'][$kind] ?? $kind,
        (string) $sale['sold'],
        (string) $sale['refused'],
        $oversold > 0 ? "$oversold" : '-',
        sprintf('%.1f ms', $sale['mean']),
        sprintf('%.1f ms', $sale['longest']),
        sprintf('%.1f ms', $sale['total']),
    );
}
echo "\n", $failed ? "Something is wrong: see above.\n" : "Without a lock, units were sold that were not there. Under each lock, and from a Stock, exactly " . STOCK . " were sold.\n";
exit($failed ? 1 : 0);
