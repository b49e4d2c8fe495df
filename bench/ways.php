<?php
/* The ways to a lock from PHP that are measured, behind one face. */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/servers.inc';

/** @return list<string> "host:port" of the first five Redis servers */
function bench_redis(): array
{
    return array_slice(redis_addresses(), 0, 5);
}

function phpredis(int $i = 0): Redis
{
    [$host, $port] = explode(':', bench_redis()[$i]);
    $redis = new Redis();
    $redis->connect($host, (int) $port);
    return $redis;
}

/**
 * By name, what connects and returns a function that waits until it has the lock on a resource, and returns a function that
 * gives it back; both throw where they cannot. To be called in the process that uses it.
 * @return array<string, Closure(): (Closure(string): Closure)>
 */
function ways(): array
{
    // Longer than a run may take: a measurement that waits in vain is ended by its time limit.
    $timeout = 600.0;
    $seconds = 20;

    return [
        'DistributedLock' => function () use ($timeout) {
            $locks = new DistributedLock(redis_server());
            return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
        },
        'RedLock' => function () use ($timeout) {
            $locks = new RedLock(redis_servers(5));
            return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
        },
        'ZkLock' => function () use ($timeout) {
            $locks = new ZkLock(zk_hosts());
            return fn (string $resource) => $locks->acquire($resource, $timeout)->release(...);
        },
        // SET NX PX and a script that deletes what is one's own, with a pause of about 10 ms between attempts.
        'phpredis by hand' => function () use ($seconds) {
            $redis = phpredis();
            $script = $redis->script('load', 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0');
            return function (string $resource) use ($redis, $script, $seconds) {
                $token = bin2hex(random_bytes(16));
                while (!$redis->set($resource, $token, ['NX', 'PX' => $seconds * 1000])) {
                    usleep(random_int(5_000, 15_000));
                }
                return fn () => $redis->evalSha($script, [$resource, $token], 1) === 1;
            };
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
        'SETNX class' => function () use ($timeout) {
            require_once __DIR__ . '/userland/SetnxLock.php';
            $lock = new SetnxLock(phpredis());
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
