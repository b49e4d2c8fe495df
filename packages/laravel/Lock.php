<?php

declare(strict_types=1);

namespace Dlock\Laravel;

use Dlock\Lease;
use Dlock\LeaseLostException;
use Dlock\LockManager;
use Illuminate\Cache\Lock as LaravelLock;
use Illuminate\Contracts\Cache\LockTimeoutException;
use InvalidArgumentException;
use LogicException;
use RuntimeException;
use ValueError;

use function Dlock\break_lock;

/**
 * A lock of LockProvider.
 *
 * With a callback, the lock is held while the callback runs, and is released however the request ends. Without seconds
 * it is renewed meanwhile.
 *
 * Without a callback, the process that has the owner() holds the lock, as with Laravel's own locks. The lock outlives
 * this object and the request, until it is released or its seconds have passed. A lock of ZkLock is released with this
 * object.
 *
 * If the servers do not accept the seconds (with replicas, the guard is the limit), the lock belongs to this process.
 * It is renewed until it is released, its seconds have passed, or the process ends. Its owner() is valid only in this
 * process.
 *
 * Every other owner works once. When an object checks the lock, its owner() changes and copies of the old owner become
 * invalid. So call owner() last, just before you pass it on.
 */
final class Lock extends LaravelLock
{
    /** The longest lease time, in seconds. */
    private const A_YEAR = 31_536_000.0;

    /**
     * Set during a callback, and with ZkLock. Otherwise the owner is a handle of the lease and a checksum of the name.
     */
    private ?Lease $lease = null;

    /**
     * @param string      $name
     * @param int         $seconds
     * @param string|null $owner
     */
    public function __construct(private LockManager $locks, private HeldLocks $held, $name, $seconds, $owner = null)
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
     * Acquires the lock; waiters are served in order.
     *
     * @param int           $seconds longest wait
     * @param callable|null $callback
     * @throws LockTimeoutException the lock was not free within $seconds
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

    /** Also if another process holds the lock, which may still rely on it for a while. */
    public function forceRelease(): void
    {
        if ($this->release()) {
            return;
        }
        $locks = $this->locks;
        while (method_exists($locks, 'inner')) { // such as Dlock\OpenTelemetry\TracedLocks
            $locks = $locks->inner();
        }
        for ($tries = 0; $this->break($locks); $tries++) {
            $tries < 3 || throw new RuntimeException("The lock \"$this->name\" has had another owner each time that it was to be released.");
        }
    }

    /** Returns true if it has to be tried again: an owner() that was used meanwhile has given its lease another token. */
    private function break(LockManager $locks): bool
    {
        $again = false;
        foreach ($locks->inspect($this->name, 0)->holders as $holder) {
            if ($holder->id === '') {
                throw new LogicException("The lock \"$this->name\" is held by another program than dlock, and only that can release it.");
            }
            $again = break_lock($locks, $this->name, $holder->id, 'forceRelease()', true) === null || $again;
        }
        return $again;
    }

    /** For later versions of Laravel. @param string|null $owner */
    public function isOwnedBy($owner): bool
    {
        $isMine = $owner === $this->owner; // compared first: getCurrentOwner() changes the owner
        return $this->getCurrentOwner() !== '' && $isMine;
    }

    /** Larger than the token of every earlier holder; may grow with each call. Null: the lock is not held. */
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
            $this->locks instanceof \ZkLock => null, // the ZooKeeper session is the lease
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

    /** Returns the lease, which the caller must release() or leave(). Null: the owner does not hold the lock. */
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
        if (!str_ends_with($this->owner, $checksum)) { // never acquired, or the owner of another lock
            return null;
        }
        try {
            return $this->locks->attach(substr($this->owner, 0, -strlen($checksum)));
        } catch (LeaseLostException | ValueError) { // ValueError: the owner was altered
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

    /** Detaches an attached lease, because it would be released when it goes out of scope. */
    private function leave(?Lease $lease): void
    {
        if ($lease !== null && $lease !== $this->lease && !$this->held->has($lease->token)) {
            $this->owner = $this->detach($lease);
        }
    }
}
