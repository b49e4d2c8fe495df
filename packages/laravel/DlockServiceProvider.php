<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Dlock\LockManager;
use DistributedLock;
use Illuminate\Cache\CacheManager;
use Illuminate\Cache\Repository;
use Illuminate\Support\ServiceProvider;
use LogicException;

/**
 * The cache driver "dlock": Redis stores the data, dlock the locks. Laravel discovers this provider. A store in
 * config/cache.php:
 *
 * 'dlock' => ['driver' => 'dlock', 'connection' => 'cache', 'lock' => env('LOCK_DSN'), 'lock_connection' => 'locks']
 *
 * lock: DSN or array as for DistributedLock; without it, INI dlock.server. To use another class, bind Dlock\LockManager
 * in the container.
 * lock_connection: a connection without a prefix to the same server and database. forceRelease() and so unique jobs
 * need it.
 */
final class DlockServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->callAfterResolving('cache', function (CacheManager $cache): void {
            $store = $this->store(...); // because extend() binds the closure to the manager
            $cache->extend('dlock', fn ($app, array $config): Repository => $cache->repository($store($config)));
        });
    }

    private function store(array $config): RedisStore
    {
        $redis = $this->app['redis'];
        $cache_prefix = (string) ($config['prefix'] ?? $this->app['config']['cache.prefix']);
        $lock_prefix = "Lock:$cache_prefix";
        $connection = $config['lock_connection'] ?? null;
        $locks = $this->app->bound(LockManager::class) ? $this->app->make(LockManager::class)
            : new DistributedLock($config['lock'] ?? null, $lock_prefix);
        $forceRelease = $connection === null ? null : function (string $name) use ($locks, $redis, $connection, $lock_prefix): void {
            $key = $lock_prefix . $name;
            if (!$redis->connection($connection)->del($key) && $locks->isLocked($name)) {
                throw new LogicException("The lock \"$name\" is still held: the connection \"$connection\" has no key \"$key\". Give "
                    . 'lock_connection the server and database of the locks, and an empty prefix.');
            }
        };
        return new RedisStore(new LockProvider($locks, $forceRelease), $redis, $cache_prefix, $config['connection'] ?? 'default');
    }
}
