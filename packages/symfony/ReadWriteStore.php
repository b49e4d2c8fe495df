<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Dlock\Lease;
use Dlock\ReadWriteLock;
use Symfony\Component\Lock\BlockingSharedLockStoreInterface;
use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;

/**
 * A store for Symfony Lock (5.4 and later) with readers and writers: Lock::acquireRead() shares, Lock::acquire()
 * excludes. Everything else is as in DlockStore.
 *
 * If a Key reads and is acquired for writing, it is promoted when no other client reads. No client writes in between.
 * If two Keys wait for that, the second is refused and continues to read. On ZooKeeper every promotion is refused.
 *
 * If a Key writes and is acquired for reading, it reads, together with other readers. On ZooKeeper it continues to
 * write.
 */
final class ReadWriteStore implements BlockingStoreInterface, BlockingSharedLockStoreInterface
{
    /** The longest wait, in seconds. */
    private const A_YEAR = 31_536_000.0;

    /**
     * Marks of a Key: which store has its lock, and whether it reads or writes. No mark: it writes, or holds nothing.
     */
    private const READS = 'reads';
    private const PROMOTED = 'promoted';
    private const DEMOTED = 'demoted';

    private DlockStore $readers;
    private DlockStore $writers;

    /**
     * @param float      $initialTtl in seconds, as for DlockStore
     * @param float|null $timeout    longest wait of acquire(true) and acquireRead(true) in seconds, then
     *                               LockConflictedException; null: 1 year
     * @param bool       $isSession  true: the locks are on ZooKeeper
     */
    public function __construct(ReadWriteLock $locks, float $initialTtl = 300.0, private ?float $timeout = null, bool $isSession = false)
    {
        $this->readers = new DlockStore($locks->readLock(), $initialTtl, $timeout, $isSession);
        $this->writers = new DlockStore($locks->writeLock(), $initialTtl, $timeout, $isSession);
    }

    public function save(Key $key): void
    {
        $this->write($key, 0.0, fn () => $this->writers->save($key));
    }

    public function waitAndSave(Key $key): void
    {
        $this->write($key, $this->timeout ?? self::A_YEAR, fn () => $this->writers->waitAndSave($key));
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

    /** See DlockStore::fencingToken(). */
    public function fencingToken(Key $key): int
    {
        return $this->store($key)->fencingToken($key);
    }

    private function mark(Key $key): ?string
    {
        return $key->hasState(self::class) ? $key->getState(self::class) : null;
    }

    private function store(Key $key): DlockStore
    {
        return in_array($this->mark($key), [self::READS, self::PROMOTED], true) ? $this->readers : $this->writers;
    }

    private function write(Key $key, float $timeout, callable $save): void
    {
        if ($this->mark($key) !== null) {
            $promotes = $this->mark($key) !== self::PROMOTED;
            if ($this->store($key)->change($key, fn (Lease $lease) => $promotes ? $lease->upgrade($timeout) : $lease->refresh())) {
                $this->mark($key) === self::DEMOTED ? $key->removeState(self::class) : $key->setState(self::class, self::PROMOTED);
                return;
            }
            $key->removeState(self::class); // the lease has ended
        }
        $save();
    }

    /** Marks the Key before it reads, because store() then finds its lock with the readers. */
    private function read(Key $key, callable $save): void
    {
        $mark = $this->mark($key);
        try {
            if ($mark !== self::READS && $this->store($key)->change($key, fn (Lease $lease) => $mark === self::DEMOTED ? $lease->refresh() : $lease->downgrade())) {
                $key->setState(self::class, $mark === self::PROMOTED ? self::READS : self::DEMOTED);
                return;
            }
        } catch (LockConflictedException) { // the Key continues to write
            return;
        }
        $key->setState(self::class, self::READS);
        $save($this->readers);
    }
}
