<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Dlock\LockManager;
use DistributedLock;
use Illuminate\Cache\CacheManager;
use Illuminate\Cache\Repository;
use Illuminate\Support\ServiceProvider;

/**
 * The cache driver "dlock": Redis stores the data, dlock the locks. Laravel discovers this provider. A store in
 * config/cache.php:
 *
 * 'dlock' => ['driver' => 'dlock', 'connection' => 'cache', 'lock' => env('LOCK_DSN')]
 *
 * lock: DSN or array as for DistributedLock; without it, INI dlock.server. To use another class, bind Dlock\LockManager
 * in the container.
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
        $prefix = (string) ($config['prefix'] ?? $this->app['config']['cache.prefix']);
        $locks = $this->app->bound(LockManager::class) ? $this->app->make(LockManager::class)
            : new DistributedLock($config['lock'] ?? null, "Lock:$prefix");
        return new RedisStore(new LockProvider($locks), $this->app['redis'], $prefix, $config['connection'] ?? 'default');
    }
}
