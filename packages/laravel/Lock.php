<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Closure;
use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LockManager;
use Illuminate\Cache\Lock as LaravelLock;
use Illuminate\Contracts\Cache\LockTimeoutException;
use InvalidArgumentException;
use LogicException;
use ValueError;

/**
 * A lock of LockProvider.
 *
 * With a callback it is held while the callback runs, is renewed meanwhile if it has no seconds, and is released however the
 * request ends. Without a callback, who has the owner() has the lock, as with Laravel's own: it stays when this object and the
 * request are gone, until it is released or its seconds are over. (ZkLock: until this object is gone.)
 *
 * Seconds that the servers do not have (with replicas the guard bounds them) make it this process' lock: renewed until it is released, its
 * seconds are over or the process ends. Its owner() is good in this process only.
 *
 * Such an owner works once. Whoever looks at the lock by it has another one afterwards, which owner() of that object gives, and
 * copies of the first are nobody's any more: so ask for owner() last, just before it is passed on.
 */
final class Lock extends LaravelLock
{
    /** The longest lease time there is. */
    private const A_YEAR = 31_536_000.0;

    /** During a callback, and with ZkLock. Otherwise the owner is a handle of the lease, and a checksum of the name. */
    private ?Lease $lease = null;

    /**
     * @param string      $name
     * @param int         $seconds
     * @param string|null $owner
     */
    public function __construct(private LockManager $locks, private ?Closure $forceRelease, private HeldLocks $held, $name, $seconds, $owner = null)
    {
        parent::__construct($name, $seconds, $owner);
    }

    public function acquire(): bool
    {
        return (bool) $this->get();
    }

    /** @param callable|null $callback */
    public function get($callback = null): mixed
    {
        $lease = $this->take(0, $callback);
        return $lease === null ? false : $this->use($lease, $callback);
    }

    /**
     * Waits until it is acquired, in the order in which all wait for it.
     *
     * @param int           $seconds
     * @param callable|null $callback
     * @throws LockTimeoutException
     */
    public function block($seconds, $callback = null): mixed
    {
        $lease = $this->take($seconds, $callback)
            ?? throw new LockTimeoutException("The lock \"$this->name\" was not free within $seconds seconds.");
        return $this->use($lease, $callback);
    }

    public function release(): bool
    {
        $lease = $this->held();
        $this->lease = null;
        if ($lease !== null) {
            $this->held->remove($lease->token);
        }
        return $lease !== null && $lease->release();
    }

    public function forceRelease(): void
    {
        if ($this->release() || !$this->locks->isLocked($this->name)) {
            return;
        }
        if ($this->forceRelease === null) {
            throw new LogicException("Another process holds the lock \"$this->name\". To release it anyway, give the cache store a lock_connection, or "
                . 'LockProvider a $forceRelease that deletes its key.');
        }
        ($this->forceRelease)($this->name);
    }

    /** Of later versions. @param string|null $owner */
    public function isOwnedBy($owner): bool
    {
        $isMine = $owner === $this->owner; // as of before it is looked at
        return $this->getCurrentOwner() !== '' && $isMine;
    }

    /** Greater than that of every earlier holder, and than those that this one was told before; null when the lock is not held. */
    public function fencingToken(): ?int
    {
        $lease = $this->held();
        $this->leave($lease);
        return $lease?->fencingToken;
    }

    protected function getCurrentOwner(): string
    {
        $lease = $this->held();
        $this->leave($lease);
        return $lease === null ? '' : $this->owner;
    }

    private function take(int|float $timeout, mixed $callback): ?Lease
    {
        $ttl = match (true) {
            $this->locks instanceof \ZkLock => null, // its session is the lease
            $this->seconds > 0 => (float) $this->seconds,
            is_callable($callback) => null, // renewed
            default => self::A_YEAR,
        };
        try {
            return $this->locks->tryAcquire($this->name, $timeout, $ttl);
        } catch (ValueError $e) {
            $lease = $this->locks->tryAcquire($this->name, $timeout); // renewed
            if ($ttl === null || $lease !== null && $lease->remaining() > $ttl) {
                throw new InvalidArgumentException($e->getMessage(), 0, $e);
            }
            $lease === null || is_callable($callback) || $this->held->add($lease, $ttl);
            return $lease;
        }
    }

    private function use(Lease $lease, mixed $callback): mixed
    {
        if (!is_callable($callback)) {
            [$this->lease, $this->owner] = match (true) {
                $this->locks instanceof \ZkLock => [$lease, $lease->token],
                $this->held->has($lease->token) => [null, $this->held->owner($lease)],
                default => [null, $this->detach($lease)],
            };
            return true;
        }
        [$this->lease, $this->owner] = [$lease, $lease->token];
        try {
            return $callback();
        } finally {
            $this->lease = null;
            $lease->release();
        }
    }

    /** Null when the lock is not this owner's. Has to be released or left. */
    private function held(): ?Lease
    {
        if ($this->lease !== null) {
            return $this->lease->isHeld() ? $this->lease : null;
        }
        $lease = $this->held->find($this->owner, $this->name);
        if ($lease !== null) {
            return $lease;
        }
        $checksum = $this->checksum();
        if (!str_ends_with($this->owner, $checksum)) { // never acquired, or another lock's
            return null;
        }
        try {
            return $this->locks->attach(substr($this->owner, 0, -strlen($checksum)));
        } catch (LeaseLostException | ValueError) { // the latter where the owner was altered
            return null;
        }
    }

    private function detach(Lease $lease): string
    {
        return $lease->detach() . $this->checksum();
    }

    private function checksum(): string
    {
        return '.' . hash('sha256', $this->name);
    }

    /** Without this, a lease that goes out of scope is released. */
    private function leave(?Lease $lease): void
    {
        if ($lease !== null && $lease !== $this->lease && !$this->held->has($lease->token)) {
            $this->owner = $this->detach($lease);
        }
    }
}
