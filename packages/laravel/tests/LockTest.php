<?php

declare(strict_types=1);

namespace Dlock\Laravel\Tests;

use DistributedLock;
use Dlock\Laravel\LockProvider;
use Illuminate\Contracts\Cache\LockTimeoutException;
use InvalidArgumentException;
use PHPUnit\Framework\TestCase;

final class LockTest extends TestCase
{
    private DistributedLock $dlock;
    private LockProvider $locks;

    protected function setUp(): void
    {
        $this->dlock = new DistributedLock('memory://' . bin2hex(random_bytes(8)));
        $this->locks = new LockProvider($this->dlock);
    }

    public function testOneHolder(): void
    {
        $lock = $this->locks->lock('x', 30);
        $other = $this->locks->lock('x', 30);
        self::assertTrue($lock->get());
        self::assertFalse($other->get());
        self::assertFalse($other->release());
        self::assertTrue($lock->release());
        self::assertTrue($other->get());
    }

    public function testACallbackRunsUnderTheLock(): void
    {
        self::assertTrue($this->locks->lock('x')->get(fn () => $this->dlock->isLocked('x')));
        self::assertFalse($this->dlock->isLocked('x'));
    }

    public function testBlockEndsAtTheTimeout(): void
    {
        $lock = $this->locks->lock('x', 30);
        $lock->get();
        $this->expectException(LockTimeoutException::class);
        $this->locks->lock('x', 30)->block(0);
    }

    public function testAnOwnerReleasesElsewhere(): void
    {
        $lock = $this->locks->lock('x', 30);
        $lock->get();
        self::assertGreaterThan(0, $lock->fencingToken());
        self::assertTrue($this->locks->restoreLock('x', $lock->owner())->release());
        self::assertFalse($this->dlock->isLocked('x'));
    }

    public function testAnOwnerCannotBeChosen(): void
    {
        $this->expectException(InvalidArgumentException::class);
        $this->locks->lock('x', 30, 'me');
    }

    public function testForceRelease(): void
    {
        $lock = $this->locks->lock('x', 30);
        $lock->get();
        (new LockProvider($this->dlock))->lock('x', 30)->forceRelease();
        self::assertFalse($this->dlock->isLocked('x'));
        self::assertFalse($lock->release());
    }
}
