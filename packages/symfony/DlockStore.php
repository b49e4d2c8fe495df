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
 * As in Symfony's own stores, the process that has the Key holds the lock. On Redis a Key may be serialized, and only
 * Lock::refresh() renews its lock. If unserialize() makes several copies of a Key, the lock belongs to the first copy
 * that is used, and is lost for the other copies.
 *
 * Two kinds of locks belong to this process until they are released or it ends, and their Keys cannot be serialized:
 * locks of ZkLock, and locks whose $initialTtl the servers do not accept (with replicas, the guard is the limit). The
 * latter are renewed meanwhile.
 */
final class DlockStore implements BlockingStoreInterface
{
    /** The longest wait, in seconds. */
    private const A_YEAR = 31_536_000.0;

    /** The shortest lease time, in seconds. */
    private const LEAST_TTL = 0.003;

    /** @var \SplObjectStorage<Key, Lease> leases that this process cannot pass to another process */
    private \SplObjectStorage $leases;

    /**
     * @param float      $initialTtl lease time in seconds until Lock::refresh(), which Lock::acquire() calls with the
     *                               lock's TTL
     * @param float|null $timeout    longest wait of acquire(true) in seconds, then LockConflictedException;
     *                               null: 1 year
     * @param bool       $isSession  true: the lease is a ZooKeeper session. Not needed for a ZkLock
     * @throws InvalidTtlException $initialTtl is not above 0
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
     * Returns the fencing token of a lock that was acquired with this Key: larger than that of every earlier holder. It
     * grows whenever the store attaches the lock. Earlier tokens of this Key remain valid until a larger one is
     * written.
     *
     * @throws LockConflictedException the lock was not acquired, or is known to be lost or released
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
     * Calls $do with the lease of the Key. False: the Key holds none.
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
        } catch (DlockException $e) { // the base class: the server does not support the change
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
            // If the Key already holds the lock, it keeps it for the initial TTL.
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

    /**
     * If the servers do not accept $initialTtl, acquires a renewed lease instead, except if $initialTtl is shorter than
     * that lease.
     */
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

    /** If the lifetime of the Key has expired, releases its lock and throws LockExpiredException. */
    private function refuseExpired(Key $key): void
    {
        if (!$key->isExpired()) {
            return;
        }
        try {
            $this->delete($key);
        } catch (LockReleasingException) { // the lock expires with its lease
        }
        throw new LockExpiredException(sprintf('The lifetime of the lock "%s" is over.', $key));
    }

    /**
     * Sets the lease time; a lease that belongs to this process is only checked. False: the Key does not hold the lock.
     */
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
                $this->keep($key, $lease); // if this throws, too, no lease is left to keep
            }
            return true;
        } catch (LeaseLostException) {
            $this->forget($key);
            return false;
        }
    }

    /**
     * Returns the lease of the Key; null: it holds none. The caller must keep or release the lease, because attaching
     * it uses up the handle in the Key.
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
