<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Dlock\ReadWriteLock;
use Symfony\Component\Lock\BlockingSharedLockStoreInterface;
use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;

/**
 * A store for Symfony Lock (5.4 and later) with readers and writers: Lock::acquireRead() shares, Lock::acquire() excludes. The rest is DlockStore's.
 *
 * A Key that reads does not become one that writes: another one may have written in between, and two that waited for it would wait for each other.
 * A Key that writes goes on writing where it asks to read.
 */
final class ReadWriteStore implements BlockingStoreInterface, BlockingSharedLockStoreInterface
{
    private DlockStore $readers;
    private DlockStore $writers;

    /**
     * @param float      $initialTtl as DlockStore's
     * @param float|null $timeout    longest wait of acquire(true) and acquireRead(true) in seconds, then LockConflictedException; null: no limit
     * @param bool       $isSession  true where the locks are on ZooKeeper
     */
    public function __construct(ReadWriteLock $locks, float $initialTtl = 300.0, ?float $timeout = null, bool $isSession = false)
    {
        $this->readers = new DlockStore($locks->readLock(), $initialTtl, $timeout, $isSession);
        $this->writers = new DlockStore($locks->writeLock(), $initialTtl, $timeout, $isSession);
    }

    public function save(Key $key): void
    {
        $this->refuseReader($key);
        $this->writers->save($key);
    }

    public function waitAndSave(Key $key): void
    {
        $this->refuseReader($key);
        $this->writers->waitAndSave($key);
    }

    public function saveRead(Key $key): void
    {
        $this->read($key, fn (DlockStore $store) => $store->save($key));
    }

    public function waitAndSaveRead(Key $key): void
    {
        $this->read($key, fn (DlockStore $store) => $store->waitAndSave($key));
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        $this->store($key)->putOffExpiration($key, $ttl);
    }

    public function exists(Key $key): bool
    {
        return $this->store($key)->exists($key);
    }

    public function delete(Key $key): void
    {
        $this->store($key)->delete($key);
    }

    /** As DlockStore's. */
    public function fencingToken(Key $key): int
    {
        return $this->store($key)->fencingToken($key);
    }

    private function store(Key $key): DlockStore
    {
        return $key->hasState(self::class) ? $this->readers : $this->writers;
    }

    private function refuseReader(Key $key): void
    {
        if (!$key->hasState(self::class)) {
            return;
        }
        if ($this->readers->exists($key)) {
            throw new LockConflictedException(sprintf('The lock "%s" is held for reading: release it before it is acquired for writing.', $key));
        }
        $key->removeState(self::class);
    }

    /** A Key that reads is marked, before it does: its lock is the readers' only. */
    private function read(Key $key, callable $save): void
    {
        if (!$key->hasState(self::class) && !$this->writers->exists($key)) {
            $key->setState(self::class, true);
        }
        $save($this->store($key));
    }
}
