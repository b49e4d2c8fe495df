<?php

declare(strict_types=1);

namespace Dlock\Symfony\Tests;

use Dlock\Symfony\DlockStore;
use Symfony\Component\Lock\PersistingStoreInterface;
use Symfony\Component\Lock\Tests\Store\AbstractStoreTestCase;
use Symfony\Component\Lock\Tests\Store\BlockingStoreTestTrait;
use Symfony\Component\Lock\Tests\Store\UnserializableTestTrait;

/** Its locks do not expire, and their Keys stay in this process. */
final class ZkLockStoreTest extends AbstractStoreTestCase
{
    use BlockingStoreTestTrait;
    use UnserializableTestTrait;

    protected function getStore(): PersistingStoreInterface
    {
        return new DlockStore(new \ZkLock(zk_hosts()));
    }
}
