<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Dlock\AcquireTimeoutException;
use Dlock\DeadlockException;
use Dlock\DlockException;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LockManager;
use Symfony\Component\Lock\BlockingStoreInterface;
use Symfony\Component\Lock\Exception\InvalidTtlException;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\Exception\LockReleasingException;
use Symfony\Component\Lock\Exception\LockStorageException;
use Symfony\Component\Lock\Key;

/**
 * A store for Symfony Lock (5.4 and later) on a DistributedLock, a RedLock or a ZkLock. Blocking, exclusive locks only.
 *
 * As in Symfony's own stores, who has the Key has the lock. With the locks on Redis it may be serialized, and nothing renews
 * the lock but Lock::refresh(). Of several copies of a Key, made by unserialize(), the first that is used has the lock from then on;
 * for the others it is lost.
 *
 * Two kinds of locks belong to this process instead, until they are released or it ends, and their Keys cannot be serialized: those of
 * ZkLock, and those with an $initialTtl that the servers do not have (with replicas the guard bounds it). These are renewed meanwhile.
 */
final class DlockStore implements BlockingStoreInterface
{
    /** The longest wait there is. */
    private const A_YEAR = 31_536_000.0;

    /** The shortest lease time. */
    private const LEAST_TTL = 0.003;

    /** @var \SplObjectStorage<Key, Lease> what this process holds, and cannot hand to another */
    private \SplObjectStorage $leases;

    /**
     * @param float      $initialTtl seconds of lease until Lock::refresh(), which Lock::acquire() calls with the lock's own TTL
     * @param float|null $timeout    longest wait of acquire(true) in seconds, then LockConflictedException; null: no limit
     * @param bool       $isSession  true where the lease is a session of ZooKeeper; it need not be said of a ZkLock
     */
    public function __construct(
        private LockManager $locks,
        private float $initialTtl = 300.0,
        private ?float $timeout = null,
        private bool $isSession = false,
    ) {
        $this->isSession = $isSession || $locks instanceof \ZkLock;
        if ($initialTtl <= 0) {
            throw new InvalidTtlException(sprintf('%s() expects a TTL greater than 0, not %s.', __METHOD__, $initialTtl));
        }
        $this->leases = new \SplObjectStorage();
    }

    public function save(Key $key): void
    {
        $this->acquire($key, 0.0);
    }

    public function waitAndSave(Key $key): void
    {
        $this->acquire($key, $this->timeout ?? self::A_YEAR);
    }

    public function putOffExpiration(Key $key, float $ttl): void
    {
        if (!$this->isSession && $ttl < self::LEAST_TTL) {
            $key->reduceLifetime(0);
        }
        $this->refuseExpired($key);
        try {
            if (!$this->extend($key, $ttl)) {
                throw new LockConflictedException(sprintf('The lock "%s" is not held.', $key));
            }
        } catch (\ValueError $e) {
            throw new InvalidTtlException($e->getMessage(), 0, $e);
        } catch (DlockException $e) {
            throw new LockAcquiringException($e->getMessage(), 0, $e);
        }
        $this->refuseExpired($key);
    }

    public function exists(Key $key): bool
    {
        try {
            $lease = $this->lease($key);
            $lease?->assertHeld();
            $lease === null || $this->keep($key, $lease);
            return $lease !== null;
        } catch (LeaseLostException) {
            $this->forget($key);
            return false;
        } catch (DlockException $e) {
            throw new LockStorageException($e->getMessage(), 0, $e);
        }
    }

    public function delete(Key $key): void
    {
        try {
            $this->lease($key)?->release();
        } catch (DlockException $e) {
            throw new LockReleasingException($e->getMessage(), 0, $e);
        }
        $this->forget($key);
    }

    /**
     * The fencing token of a lock that was acquired with this Key: greater than that of every earlier holder. It rises whenever the
     * store looks at the lock; those that were given for this Key before remain good until another one is written.
     *
     * @throws LockConflictedException when it was not acquired, or is known to be lost or released
     */
    public function fencingToken(Key $key): int
    {
        return match (true) {
            isset($this->leases[$key]) => $this->leases[$key]->fencingToken,
            $key->hasState(self::class) => $key->getState(self::class)['fencingToken'],
            default => throw new LockConflictedException(sprintf('The lock "%s" is not held.', $key)),
        };
    }

    /**
     * Does something with what the Key holds; false when it holds nothing.
     *
     * @internal for ReadWriteStore
     *
     * @param callable(Lease): void $do
     */
    public function change(Key $key, callable $do): bool
    {
        $this->refuseExpired($key);
        try {
            $lease = $this->lease($key);
            if ($lease === null) {
                return false;
            }
            try {
                $do($lease);
            } finally {
                $this->keep($key, $lease);
            }
        } catch (AcquireTimeoutException | DeadlockException $e) {
            throw new LockConflictedException($e->getMessage(), 0, $e);
        } catch (LeaseLostException) {
            $this->forget($key);
            return false;
        } catch (DlockException $e) { // itself: the server has no such change
            $class = $e::class === DlockException::class ? LockConflictedException::class : LockAcquiringException::class;
            throw new $class($e->getMessage(), 0, $e);
        }
        $this->refuseExpired($key);
        return true;
    }

    private function acquire(Key $key, float $timeout): void
    {
        $this->refuseExpired($key);
        try {
            // A Key that holds the lock already keeps it, for the initial TTL again.
            if (!$this->extend($key, $this->initialTtl)) {
                $this->keep($key, $this->take($key, $timeout));
            }
        } catch (AcquireTimeoutException $e) {
            throw new LockConflictedException($e->getMessage(), 0, $e);
        } catch (LeaseLostException $e) {
            throw new LockExpiredException($e->getMessage(), 0, $e);
        } catch (DlockException $e) {
            throw new LockAcquiringException($e->getMessage(), 0, $e);
        }
        $this->refuseExpired($key);
    }

    /** With an $initialTtl that the servers do not have, a lease that is renewed takes its place, unless the $initialTtl is too short. */
    private function take(Key $key, float $timeout): Lease
    {
        try {
            return $this->locks->acquire((string) $key, $timeout, $this->isSession ? null : $this->initialTtl);
        } catch (\ValueError $e) {
            $lease = $this->locks->acquire((string) $key, $timeout);
            if ($this->isSession || $lease->remaining() > $this->initialTtl) {
                throw new InvalidTtlException($e->getMessage(), 0, $e);
            }
            return $this->leases[$key] = $lease;
        }
    }

    /** A Key whose lifetime is over releases what it holds. */
    private function refuseExpired(Key $key): void
    {
        if (!$key->isExpired()) {
            return;
        }
        try {
            $this->delete($key);
        } catch (LockReleasingException) { // its lease time will end it
        }
        throw new LockExpiredException(sprintf('The lifetime of the lock "%s" is over.', $key));
    }

    /** Gives a lock another lease time; false when it is not this Key's. */
    private function extend(Key $key, float $ttl): bool
    {
        try {
            $lease = $this->lease($key);
            if ($lease === null) {
                return false;
            }
            try {
                isset($this->leases[$key]) ? $lease->assertHeld() : $lease->refresh($ttl);
            } finally {
                $this->keep($key, $lease); // when this fails, too, there is nothing left to keep
            }
            return true;
        } catch (LeaseLostException) {
            $this->forget($key);
            return false;
        }
    }

    /**
     * What the Key holds. Has to be kept or released by the caller: the handle in the Key is used up by this. Null when it holds nothing.
     */
    private function lease(Key $key): ?Lease
    {
        if ($this->isSession || isset($this->leases[$key])) {
            return $this->leases[$key] ?? null;
        }
        try {
            return $key->hasState(self::class) ? $this->locks->attach($key->getState(self::class)['handle']) : null;
        } catch (LeaseLostException) {
            $this->forget($key);
            return null;
        }
    }

    private function keep(Key $key, Lease $lease): void
    {
        if ($this->isSession || isset($this->leases[$key])) {
            $this->leases[$key] = $lease;
            $key->markUnserializable();
            return;
        }
        $key->reduceLifetime($lease->remaining());
        $key->setState(self::class, ['handle' => $lease->detach(), 'fencingToken' => $lease->fencingToken]);
    }

    private function forget(Key $key): void
    {
        $key->removeState(self::class);
        unset($this->leases[$key]);
    }
}
