<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Dlock\LockManager;
use Illuminate\Contracts\Cache\LockProvider as LockProviderContract;
use InvalidArgumentException;

/** A lock provider for Laravel (8 and later), with a DistributedLock, a RedLock or a ZkLock. */
final class LockProvider implements LockProviderContract
{
    private HeldLocks $held;

    /** @param LockManager $locks one that wraps another has to return it by inner(), for forceRelease() */
    public function __construct(private LockManager $locks)
    {
        $this->held = new HeldLocks();
    }

    /**
     * @param string      $name
     * @param int         $seconds lease time; 0: until it is released
     * @param string|null $owner   what owner() returned after an acquisition; it cannot be chosen
     */
    public function lock($name, $seconds = 0, $owner = null): Lock
    {
        if ($owner !== null && !str_starts_with($owner, 'dlock')) {
            throw new InvalidArgumentException('The owner of a lock is what owner() returns after the acquisition (not with ZkLock). It cannot be chosen.');
        }
        return new Lock($this->locks, $this->held, $name, $seconds, $owner);
    }

    /**
     * @param string $name
     * @param string $owner
     */
    public function restoreLock($name, $owner): Lock
    {
        return $this->lock($name, 0, $owner);
    }
}
