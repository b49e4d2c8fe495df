<?php
/* The locks that the page offers. */
declare(strict_types=1);

/** Seconds of each lease and reservation. Shorter than a payment that hangs: see Payment. */
const LEASE = 2;

/** Seconds after which a buyer stops waiting. */
const PATIENCE = 10;

/** A userland lock was not acquired within PATIENCE. */
final class NotLocked extends RuntimeException
{
}

/** @return list<string> the locks of this build, the userland locks, none, and Stock, which is no lock */
function lock_names(): array
{
    return ['none', 'SetnxLock', 'QuorumLock', 'DistributedLock', 'RedLock', ...(class_exists('ZkLock') ? ['ZkLock'] : []), 'Stock'];
}

/** Each buyer may have one unit, reserved for the length of a lease. */
function stock(): Dlock\Stock
{
    return new Dlock\Stock('redis://' . lock_servers()[0], ttl: LEASE, perBuyer: 1);
}

/** Puts units into an empty stock, and deletes its earlier sales. */
function open_stock(string $goods, int $quantity): void
{
    phpredis(lock_servers()[0])->del("Stock:$goods");
    stock()->restock($goods, $quantity);
}

/** @return list<string> */
function lock_servers(): array
{
    return explode(',', (string) getenv('LOCK_REDIS'));
}

/** @return Closure(string $resource, callable(?Dlock\Lease): mixed $section): mixed runs the section under that lock */
function lock_named(string $name): Closure
{
    $servers = lock_servers();
    $dsn = fn (string $address): string => "redis://$address";
    return match ($name) {
        'none' => fn (string $resource, callable $section) => $section(null),
        'DistributedLock' => (new DistributedLock($dsn($servers[0]), ttl: LEASE, timeout: PATIENCE))->synchronized(...),
        'RedLock' => (new RedLock(array_map($dsn, $servers), ttl: LEASE, timeout: PATIENCE))->synchronized(...),
        'ZkLock' => (new ZkLock((string) getenv('LOCK_ZOOKEEPER'), timeout: PATIENCE))->synchronized(...),
        'SetnxLock' => setnx_lock($servers[0]),
        'QuorumLock' => quorum_lock($servers),
    };
}

/* Two classes as applications copy them. They know no fencing tokens, and nothing renews their leases. */

function setnx_lock(string $server): Closure
{
    require_once __DIR__ . '/../../../bench/userland/SetnxLock.php';
    $lock = new SetnxLock(phpredis($server), LEASE);
    return function (string $resource, callable $section) use ($lock) {
        $lock->lock($resource, PATIENCE) || throw new NotLocked();
        try {
            return $section(null);
        } finally {
            $lock->unlock($resource);
        }
    };
}

/** @param list<string> $servers */
function quorum_lock(array $servers): Closure
{
    require_once __DIR__ . '/../../../bench/userland/QuorumLock.php';
    // A retry pauses for 150 ms on average.
    $locks = new QuorumLock(array_map(phpredis(...), $servers), retryCount: intdiv(PATIENCE * 1000, 150));
    return function (string $resource, callable $section) use ($locks) {
        $lock = $locks->lock("quorum:$resource", LEASE * 1000) ?: throw new NotLocked();
        try {
            return $section(null);
        } finally {
            $locks->unlock($lock);
        }
    };
}

function phpredis(string $server): Redis
{
    [$host, $port] = explode(':', $server);
    $redis = new Redis();
    $redis->pconnect($host, (int) $port);
    return $redis;
}
