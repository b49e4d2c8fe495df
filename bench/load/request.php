<?php
/* What a php-fpm worker does for one request of load.php. The answer begins with the worker's pid. */
declare(strict_types=1);

/** The work of a request without locking, for comparison. */
function work(): string
{
    $rows = [];
    for ($i = 0; $i < 500; $i++) {
        $rows[] = ['id' => $i, 'name' => "item $i", 'price' => $i * 1.19];
    }
    return hash('sha256', json_encode($rows));
}

/** Waits until load.php opens the gate, so that all workers start a step at once. */
function wait_at(string $gate): void
{
    flock(fopen($gate, 'r'), LOCK_SH);
}

/** @param string $variant another variant uses other connections */
function manager(string $class, string $servers, float $ttl, string $variant = ''): Dlock\LockManager
{
    $list = array_map(fn (string $server) => "redis://$server$variant", explode(',', $servers));
    $renew = isset($_GET['renew']) ? (bool) $_GET['renew'] : null;
    return match ($class) {
        'DistributedLock' => new DistributedLock($list[0], ttl: $ttl, renew: $renew),
        'RedLock' => new RedLock($list, prefix: 'Lock:', ttl: $ttl, renew: $renew),
        'ZkLock' => new ZkLock($servers, sessionTimeout: $ttl + ($variant === '' ? 0 : 0.5)),
    };
}

/** @return array{string, float} "ok", or the exception, and the seconds that it took */
function attempt(callable $do): array
{
    $start = hrtime(true);
    try {
        $do();
        $result = 'ok';
    } catch (Throwable $e) {
        $result = $e::class . ': ' . $e->getMessage();
    }
    return [$result, (hrtime(true) - $start) / 1e9];
}

/** Runs $do, and proves that no other process does so with this resource: the directory can be created only once. */
function alone(string $resource, callable $do): void
{
    $mark = dirname($_GET['gate']) . "/held-$resource";
    @mkdir($mark) || throw new LogicException("two hold $resource");
    $do();
    rmdir($mark);
}

/** Runs $do while the process can open no more descriptors. */
function without_descriptors(callable $do): array
{
    $taken = [];
    while ($file = @fopen('/dev/null', 'r')) {
        $taken[] = $file;
    }
    return $do();
}

function renewals(): int
{
    return Dlock\stats()['renewals'];
}

$answer = function (): array {
    ['do' => $do, 'class' => $class, 'servers' => $servers, 'ttl' => $ttl, 'resource' => $resource] = $_GET + ['resource' => ''];
    if ($do === 'work') {
        return attempt(fn () => alone($resource, work(...)));
    }
    $lock = fn (callable $do) => attempt(fn () => manager($class, $servers, (float) $ttl)->synchronized($resource, fn () => alone($resource, $do), 60.0));
    $try = fn (string $variant = '') => attempt(fn () => manager($class, $servers, (float) $ttl, $variant)->acquire($resource, (float) ($_GET['timeout'] ?? 0)));
    switch ($do) {
        case 'lock':
            return $lock(work(...));
        case 'lock until renewed':
            return $lock(function () {
                for ($before = renewals(), $i = 0; renewals() === $before; $i++) {
                    $i < 1000 ? usleep(10_000) : throw new LogicException('not renewed');
                }
            });
        case 'try':
            return $try();
        case 'try without descriptors':
            $variant = '?read_timeout=4.001'; // another timeout needs another connection
            return [...without_descriptors(fn () => $try($variant)), ...$try($variant)];
        case 'hold':
            $lease = manager($class, $servers, (float) $ttl)->acquire($resource, 60);
            echo ' held';
            flush();
            wait_at($_GET['gate']); // the gate stays closed until the process is killed
    }
    throw new ValueError("no such thing to do: $do");
};

echo getmypid();
flush();
if (isset($_GET['gate']) && isset($_GET['together'])) {
    wait_at($_GET['gate']);
}
$result = json_encode($answer());
echo " $result";
