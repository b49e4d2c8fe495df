<?php
/* One buyer: reads the stock, thinks, and writes it back less one. From a Stock: reserves a unit, thinks, and confirms.
 * php buyer.php <lock> <stock file> <resource> <think ms> */
declare(strict_types=1);

[, $kind, $file, $resource, $think] = $argv;
$redis = array_map(fn ($address) => "redis://$address", explode(',', (string) getenv('DLOCK_TEST_REDIS')));

/** Sells a unit if one is left. It is right only while no other buyer does this at the same time. */
$buy = function () use ($file, $think): bool {
    $stock = (int) file_get_contents($file);
    if ($stock < 1) {
        return false;
    }
    usleep((int) $think * 1000); // payment, addresses, mails, …
    file_put_contents($file, (string) ($stock - 1));
    return true;
};

/** Does not wait for units that other buyers have reserved, because here all buyers pay. */
$reserve = function (callable $reserved) use ($redis, $resource, $think): bool {
    $reservation = (new Dlock\Stock($redis[0]))->reserve($resource, buyer: (string) getmypid(), order: 'order');
    $reserved();
    usleep((int) $think * 1000);
    return $reservation !== null && $reservation->confirm();
};

$lock = match ($kind) {
    'none', 'Stock' => null,
    'DistributedLock' => new DistributedLock($redis[0]),
    'memcached' => new DistributedLock('memcached://' . getenv('DLOCK_TEST_MEMCACHED')),
    'RedLock' => new RedLock(array_slice($redis, 0, 5)),
    'ZkLock' => new ZkLock((string) getenv('DLOCK_TEST_ZK')),
};

echo "ready\n";
fgets(STDIN); // all buyers start at once

$start = hrtime(true);
$waited = 0;
$section = function () use ($buy, $start, &$waited): bool {
    $waited = hrtime(true) - $start;
    return $buy();
};
$sold = match (true) {
    $kind === 'Stock' => $reserve(function () use ($start, &$waited) {
        $waited = hrtime(true) - $start;
    }),
    $lock === null => $section(),
    default => $lock->synchronized($resource, $section, timeout: 30),
};
echo json_encode(['sold' => $sold, 'waited' => $waited / 1e6]), "\n";
