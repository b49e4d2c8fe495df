<?php

declare(strict_types=1);

namespace Dlock\Symfony\Tests;

use Dlock\Symfony\DlockStore;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Tests\Store\AbstractStoreTestCase;
use Symfony\Component\Lock\Tests\Store\BlockingStoreTestTrait;
use Symfony\Component\Lock\Tests\Store\ExpiringStoreTestTrait;

final class DistributedLockStoreTest extends AbstractStoreTestCase
{
    use BlockingStoreTestTrait;
    use ExpiringStoreTestTrait;

    protected function getStore(): PersistingStoreInterface
    {
        return new DlockStore(new \DistributedLock(redis_server()));
    }

    /** The value in Symfony's own tests of its RedisStore. */
    protected function getClockDelay(): int
    {
        return 250000;
    }
}
