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
 * A store for Symfony Semaphore (5.4 and later) on Dlock\Semaphore. The limit of a Key is the capacity, its weight the number of permits.
 *
 * Who has the Key has the permits; it may be serialized. Of several copies of a Key, the first that is used has them from then on.
 */
final class SemaphoreStore implements PersistingStoreInterface
{
    /** The shortest lease time. */
    private const LEAST_TTL = 0.003;

    /** @var array<int, Semaphore> by capacity */
    private array $semaphores = [];

    /**
     * @param string|array|null $server Redis, as Dlock\Semaphore's; null: INI dlock.server
     * @param string            $prefix the key of a resource is $prefix . $resource
     */
    public function __construct(#[\SensitiveParameter] private string|array|null $server = null, private string $prefix = 'Semaphore:')
    {
    }

    public function save(Key $key, float $ttlInSecond): void
    {
        $this->refuse($ttlInSecond);
        try {
            // A Key that has its permits already keeps them, for this TTL.
            $lease = $this->extend($key, $ttlInSecond) ? null
                : $this->semaphore($key)->tryAcquire((string) $key, $key->getWeight(), 0.0, $ttlInSecond)
                    ?? throw new SemaphoreAcquiringException($key, 'too few permits are free');
            $lease === null || $this->keep($key, $lease);
        } catch (DlockException $e) {
            throw new RuntimeException($e->getMessage(), 0, $e);
        }
    }

    public function putOffExpiration(Key $key, float $ttlInSecond): void
    {
        $this->refuse($ttlInSecond);
        try {
            $this->extend($key, $ttlInSecond) || throw new SemaphoreExpiredException($key, 'its permits were given back');
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
        $key->removeState(self::class);
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

    /** False when the permits are not this Key's. */
    private function extend(Key $key, float $ttl): bool
    {
        try {
            $lease = $this->lease($key);
            if ($lease === null) {
                return false;
            }
            try {
                $lease->refresh($ttl);
            } finally {
                $this->keep($key, $lease); // when this fails, too, there is nothing left to keep
            }
            return true;
        } catch (LeaseLostException) {
            $key->removeState(self::class);
            return false;
        }
    }

    /** What the Key holds, to be kept or released by the caller: the handle in the Key is used up by this. Null when it holds nothing. */
    private function lease(Key $key): ?Lease
    {
        try {
            return $key->hasState(self::class) ? $this->semaphore($key)->attach($key->getState(self::class)) : null;
        } catch (LeaseLostException) {
            $key->removeState(self::class);
            return null;
        }
    }

    private function keep(Key $key, Lease $lease): void
    {
        $key->reduceLifetime($lease->remaining());
        $key->setState(self::class, $lease->detach());
    }
}
