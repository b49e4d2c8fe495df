<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Illuminate\Cache\RedisStore as LaravelRedisStore;
use Illuminate\Contracts\Redis\Factory;

/** Laravel's cache on Redis, for the driver "dlock": Cache::lock() returns locks of dlock instead of Laravel's own. */
final class RedisStore extends LaravelRedisStore
{
    public function __construct(private LockProvider $dlock, Factory $redis, string $prefix = '', string $connection = 'default')
    {
        parent::__construct($redis, $prefix, $connection);
    }

    /**
     * @param string      $name
     * @param int         $seconds
     * @param string|null $owner
     */
    public function lock($name, $seconds = 0, $owner = null): Lock
    {
        return $this->dlock->lock($name, $seconds, $owner);
    }

    /**
     * @param string $name
     * @param string $owner
     */
    public function restoreLock($name, $owner): Lock
    {
        return $this->dlock->restoreLock($name, $owner);
    }
}
