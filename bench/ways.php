<?php
/* The measured ways to a lock from PHP, behind one interface. */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/servers.inc';

/** @return list<string> "host:port" of the first five Redis servers */
function bench_redis(): array
{
    return array_slice(redis_addresses(), 0, 5);
}

/** The password of all servers; null: they need none. */
function bench_password(): ?string
{
    return getenv('DLOCK_BENCH_PASSWORD') ?: null;
}

/** @return list<string> DSNs of the first five Redis servers */
function bench_dsns(): array
{
    $password = bench_password();
    return array_map(fn ($address) => 'redis://' . ($password === null ? '' : ":$password@") . $address, bench_redis());
}

/** Lease time of the ways with replicas, in s: their first lock waits for as long. */
const REPLICATED_LEASE = 5;

/** Acquires locks on servers with replicas; in a cluster, all locks are in one slot. */
function replicated_way(string $dsn, float $timeout): Closure
{
    $locks = new DistributedLock($dsn, '{bench}:', REPLICATED_LEASE);
    return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
}

function phpredis(int $i = 0, bool $persistent = false): Redis
{
    [$host, $port] = explode(':', bench_redis()[$i]);
    $redis = new Redis();
    $context = bench_password() === null ? [] : ['auth' => [bench_password()]];
    $persistent ? $redis->pconnect($host, (int) $port, 0, null, 0, 0, $context) : $redis->connect($host, (int) $port, 0, null, 0, 0, $context);
    return $redis;
}

const DELETE_OWN = 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';

/** SET NX PX, and a script that deletes the key only with its own token; about 10 ms between attempts. */
function phpredis_by_hand(Redis $redis, int $seconds): Closure
{
    return function (string $resource) use ($redis, $seconds) {
        $token = bin2hex(random_bytes(16));
        while (!$redis->set($resource, $token, ['NX', 'PX' => $seconds * 1000])) {
            usleep(random_int(5_000, 15_000));
        }
        // evalSha() returns false if the server has not seen the script yet.
        return fn () => ($redis->evalSha(sha1(DELETE_OWN), [$resource, $token], 1)
            ?: $redis->eval(DELETE_OWN, [$resource, $token], 1)) === 1;
    };
}

/** The same with predis. */
function predis_by_hand(Predis\Client $redis, int $seconds): Closure
{
    return function (string $resource) use ($redis, $seconds) {
        $token = bin2hex(random_bytes(16));
        while ($redis->set($resource, $token, 'PX', $seconds * 1000, 'NX') === null) {
            usleep(random_int(5_000, 15_000));
        }
        return function () use ($redis, $resource, $token) {
            try {
                return $redis->evalsha(sha1(DELETE_OWN), 1, $resource, $token) === 1;
            } catch (Predis\Response\ServerException) {
                return $redis->eval(DELETE_OWN, 1, $resource, $token) === 1;
            }
        };
    };
}

/**
 * By name, a function that connects. It returns a function that waits until it has acquired the lock on a resource, and
 * returns a function that releases it. Both throw if they fail. Call it in the process that uses the lock.
 * @return array<string, Closure(): (Closure(string): Closure)>
 */
function ways(): array
{
    // Longer than a run may take: the time limit ends a measurement that waits in vain.
    $timeout = 600.0;
    $seconds = 60;

    return [
        'DistributedLock' => function () use ($timeout) {
            $locks = new DistributedLock(bench_dsns()[0]);
            return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
        },
        'Semaphore' => function () use ($timeout) {
            $locks = new Dlock\Semaphore(1, bench_dsns()[0]);
            return fn (string $resource) => $locks->acquire($resource, 1, $timeout)->release(...);
        },
        'DistributedLock, with a replica' => fn () => replicated_way('redis://' . getenv('DLOCK_BENCH_MASTER'), $timeout),
        'DistributedLock, replicas=1' => fn () => replicated_way('redis://' . getenv('DLOCK_BENCH_MASTER') . '?replicas=1&guard=' . REPLICATED_LEASE, $timeout),
        'DistributedLock, cluster, replicas=0' => fn () => replicated_way('cluster://' . getenv('DLOCK_BENCH_CLUSTER') . '?replicas=0', $timeout),
        'DistributedLock, cluster' => fn () => replicated_way('cluster://' . getenv('DLOCK_BENCH_CLUSTER') . '?guard=' . REPLICATED_LEASE, $timeout),
        'RedLock' => function () use ($timeout) {
            $locks = new RedLock(bench_dsns());
            return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
        },
        'ZkLock' => function () use ($timeout) {
            $locks = new ZkLock(zk_hosts());
            return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
        },
        'phpredis by hand' => fn () => phpredis_by_hand(phpredis(), $seconds),
        'phpredis by hand, pconnect' => fn () => phpredis_by_hand(phpredis(persistent: true), $seconds),
        'predis by hand' => function () use ($seconds) {
            require_once 'Predis/autoload.php';
            [$host, $port] = explode(':', bench_redis()[0]);
            return predis_by_hand(new Predis\Client(array_filter(['host' => $host, 'port' => $port, 'password' => bench_password()])), $seconds);
        },
        'Symfony Lock' => function () use ($seconds) {
            require_once 'Symfony/Component/Lock/autoload.php';
            $factory = new Symfony\Component\Lock\LockFactory(new Symfony\Component\Lock\Store\RedisStore(phpredis()));
            return function (string $resource) use ($factory, $seconds) {
                $lock = $factory->createLock($resource, $seconds);
                $lock->acquire(true);
                return function () use ($lock) {
                    $lock->release();
                    return true;
                };
            };
        },
        'SETNX class' => function () use ($timeout, $seconds) {
            require_once __DIR__ . '/userland/SetnxLock.php';
            $lock = new SetnxLock(phpredis(), $seconds);
            return function (string $resource) use ($lock, $timeout) {
                $lock->lock($resource, $timeout) || throw new RuntimeException('not locked');
                return fn () => $lock->unlock($resource);
            };
        },
        'Redlock class' => function () use ($seconds) {
            require_once __DIR__ . '/userland/QuorumLock.php';
            $locks = new QuorumLock(array_map(phpredis(...), range(0, 4)));
            return function (string $resource) use ($locks, $seconds) {
                while (!($lock = $locks->lock($resource, $seconds * 1000)));
                return function () use ($locks, $lock) {
                    $locks->unlock($lock);
                    return true;
                };
            };
        },
    ];
}
