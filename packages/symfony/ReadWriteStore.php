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
 * A store for Symfony Lock (5.4 and later) with readers and writers: Lock::acquireRead() shares, Lock::acquire() excludes. The rest is DlockStore's.
 *
 * A Key that reads and is acquired for writing is promoted when nobody else reads: nobody has written in between. Of two that wait for that, the
 * second one is refused, and goes on reading. A Key that writes and is acquired for reading reads, together with others. On ZooKeeper the
 * first is refused, and the second goes on writing.
 */
final class ReadWriteStore implements BlockingStoreInterface, BlockingSharedLockStoreInterface
{
    /** Longer than any lock is waited for. */
    private const A_YEAR = 31_536_000.0;

    /** What a Key is marked with: which side its lock is of, and what it does. None: it writes, or holds nothing. */
    private const READS = 'reads';
    private const PROMOTED = 'promoted';
    private const DEMOTED = 'demoted';

    private DlockStore $readers;
    private DlockStore $writers;

    /**
     * @param float      $initialTtl as DlockStore's
     * @param float|null $timeout    longest wait of acquire(true) and acquireRead(true) in seconds, then LockConflictedException; null: no limit
     * @param bool       $isSession  true where the locks are on ZooKeeper
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

    /** As DlockStore's. */
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
            $key->removeState(self::class); // it has ended meanwhile
        }
        $save();
    }

    /** A Key that reads is marked, before it does: its lock is the readers' only. */
    private function read(Key $key, callable $save): void
    {
        $mark = $this->mark($key);
        try {
            if ($mark !== self::READS && $this->store($key)->change($key, fn (Lease $lease) => $mark === self::DEMOTED ? $lease->refresh() : $lease->downgrade())) {
                $key->setState(self::class, $mark === self::PROMOTED ? self::READS : self::DEMOTED);
                return;
            }
        } catch (LockConflictedException) { // it goes on writing
            return;
        }
        $key->setState(self::class, self::READS);
        $save($this->readers);
    }
}
