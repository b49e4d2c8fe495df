<?php

declare(strict_types=1);

namespace Dlock\Symfony;

use Dlock\DlockException;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\Semaphore;
use Symfony\Component\Semaphore\Exception\InvalidArgumentException;
use Symfony\Component\Semaphore\Exception\RuntimeException;
use Symfony\Component\Semaphore\Exception\SemaphoreAcquiringException;
use Symfony\Component\Semaphore\Exception\SemaphoreExpiredException;
use Symfony\Component\Semaphore\Exception\SemaphoreReleasingException;
use Symfony\Component\Semaphore\Key;
use Symfony\Component\Semaphore\PersistingStoreInterface;

/**
 * A store for Symfony Semaphore (5.4 and later) on Dlock\Semaphore. The limit of a Key is the capacity, its weight the
 * number of permits.
 *
 * The process that has the Key holds the permits. A Key may be serialized. If there are several copies, the permits
 * belong to the first copy that is used.
 *
 * If the servers do not accept the TTL (with replicas, the guard is the limit), the permits belong to this process.
 * They are renewed until they are released or the process ends. A copy of such a Key holds nothing.
 */
final class SemaphoreStore implements PersistingStoreInterface
{
    /** The shortest lease time, in seconds. */
    private const LEAST_TTL = 0.003;

    /** @var array<int, Semaphore> by capacity */
    private array $semaphores = [];

    /** @var \SplObjectStorage<Key, Lease> leases that this process cannot pass to another process */
    private \SplObjectStorage $leases;

    /**
     * @param string|array|null $server Redis server, as for Dlock\Semaphore; null: INI dlock.server
     * @param string            $prefix the key of a resource is $prefix . $resource
     */
    public function __construct(#[\SensitiveParameter] private string|array|null $server = null, private string $prefix = 'Semaphore:')
    {
        $this->leases = new \SplObjectStorage();
    }

    public function save(Key $key, float $ttlInSecond): void
    {
        $this->refuse($ttlInSecond);
        try {
            // If the Key already holds its permits, it keeps them for this TTL.
            if (!$this->extend($key, $ttlInSecond)) {
                $this->keep($key, $this->take($key, $ttlInSecond) ?? throw new SemaphoreAcquiringException($key, 'too few permits are free'));
            }
        } catch (DlockException $e) {
            throw new RuntimeException($e->getMessage(), 0, $e);
        }
    }

    public function putOffExpiration(Key $key, float $ttlInSecond): void
    {
        $this->refuse($ttlInSecond);
        try {
            $this->extend($key, $ttlInSecond) || throw new SemaphoreExpiredException($key, 'its permits were released');
        } catch (DlockException $e) {
            throw new RuntimeException($e->getMessage(), 0, $e);
        }
    }

    public function exists(Key $key): bool
    {
        try {
            $lease = $this->lease($key);
            $lease === null || $this->keep($key, $lease);
            return $lease !== null;
        } catch (DlockException $e) {
            throw new RuntimeException($e->getMessage(), 0, $e);
        }
    }

    public function delete(Key $key): void
    {
        try {
            $this->lease($key)?->release();
        } catch (DlockException $e) {
            throw new SemaphoreReleasingException($key, $e->getMessage());
        }
        $this->forget($key);
    }

    private function refuse(float $ttl): void
    {
        if ($ttl < self::LEAST_TTL) {
            throw new InvalidArgumentException(sprintf('The TTL should be at least %s s, not %s.', self::LEAST_TTL, $ttl));
        }
    }

    private function semaphore(Key $key): Semaphore
    {
        return $this->semaphores[$key->getLimit()] ??= new Semaphore($key->getLimit(), $this->server, $this->prefix);
    }

    /**
     * If the servers do not accept the TTL, acquires a renewed lease instead, except if the TTL is shorter than that
     * lease.
     */
    private function take(Key $key, float $ttl): ?Lease
    {
        $semaphore = $this->semaphore($key);
        try {
            return $semaphore->tryAcquire((string) $key, $key->getWeight(), 0.0, $ttl);
        } catch (\ValueError $e) {
            $lease = $semaphore->tryAcquire((string) $key, $key->getWeight());
            if ($lease !== null && $lease->remaining() > $ttl) {
                throw new InvalidArgumentException($e->getMessage(), 0, $e);
            }
            $lease === null || $this->leases[$key] = $lease;
            return $lease;
        }
    }

    /** False: the Key does not hold the permits. */
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
        } catch (\ValueError $e) {
            throw new InvalidArgumentException($e->getMessage(), 0, $e);
        }
    }

    /**
     * Returns the lease of the Key; null: it holds none. The caller must keep or release the lease, because attaching
     * it uses up the handle in the Key.
     */
    private function lease(Key $key): ?Lease
    {
        if (isset($this->leases[$key])) {
            return $this->leases[$key]->isHeld() ? $this->leases[$key] : null;
        }
        try {
            return $key->hasState(self::class) ? $this->semaphore($key)->attach($key->getState(self::class)) : null;
        } catch (LeaseLostException) {
            $this->forget($key);
            return null;
        }
    }

    private function keep(Key $key, Lease $lease): void
    {
        if (isset($this->leases[$key])) {
            return;
        }
        $key->reduceLifetime($lease->remaining());
        $key->setState(self::class, $lease->detach());
    }

    private function forget(Key $key): void
    {
        $key->removeState(self::class);
        unset($this->leases[$key]);
    }
}
