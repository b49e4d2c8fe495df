<?php

declare(strict_types=1);

namespace Dlock\Symfony\Tests;

use Dlock\ReadWriteLock;
use Dlock\Symfony\ReadWriteStore;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Tests\Store\AbstractStoreTestCase;
use Symfony\Component\Lock\Tests\Store\BlockingStoreTestTrait;
use Symfony\Component\Lock\Tests\Store\ExpiringStoreTestTrait;
use Symfony\Component\Lock\Tests\Store\SharedLockStoreTestTrait;

final class ReadWriteStoreTest extends AbstractStoreTestCase
{
    use BlockingStoreTestTrait;
    use ExpiringStoreTestTrait;
    use SharedLockStoreTestTrait;

    protected function getStore(): PersistingStoreInterface
    {
        return new ReadWriteStore(new ReadWriteLock(redis_server()));
    }

    /** The value in Symfony's own tests of its RedisStore. */
    protected function getClockDelay(): int
    {
        return 250000;
    }
}
