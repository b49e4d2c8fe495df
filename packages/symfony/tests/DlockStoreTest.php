<?php

declare(strict_types=1);

namespace Dlock\Symfony\Tests;

use DistributedLock;
use Dlock\Symfony\DlockStore;
use PHPUnit\Framework\TestCase;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;

final class DlockStoreTest extends TestCase
{
    private DlockStore $store;
    private LockFactory $factory;

    protected function setUp(): void
    {
        $this->store = new DlockStore(new DistributedLock('memory://' . bin2hex(random_bytes(8))), timeout: 0.05);
        $this->factory = new LockFactory($this->store);
    }

    public function testOneHolder(): void
    {
        $lock = $this->factory->createLock('x');
        $other = $this->factory->createLock('x');
        self::assertTrue($lock->acquire());
        self::assertFalse($other->acquire());
        self::assertTrue($lock->isAcquired());
        self::assertFalse($other->isAcquired());
        $lock->release();
        self::assertTrue($other->acquire());
    }

    public function testAWaitEndsAtTheTimeout(): void
    {
        $lock = $this->factory->createLock('x');
        $lock->acquire();
        $this->expectException(LockConflictedException::class);
        $this->factory->createLock('x')->acquire(true);
    }

    public function testRefreshSetsTheLifetime(): void
    {
        $lock = $this->factory->createLock('x', 30);
        $lock->acquire();
        $lock->refresh(1000);
        self::assertGreaterThan(900, $lock->getRemainingLifetime());
    }

    public function testALockThatExpiresAtOnceIsNotHeld(): void
    {
        $this->expectException(LockAcquiringException::class);
        $this->factory->createLock('x', 0.001)->acquire();
    }

    public function testASerializedKeyTransfersTheLock(): void
    {
        $key = new Key('x');
        $this->store->save($key);
        $copy = unserialize(serialize($key));
        self::assertTrue($this->store->exists($copy));
        self::assertFalse($this->store->exists($key));
        self::assertGreaterThan(0, $this->store->fencingToken($copy));
        $this->store->delete($copy);
        self::assertTrue($this->factory->createLock('x')->acquire());
    }
}
