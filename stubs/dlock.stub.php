<?php

/**
 * dlock: distributed locks, native.
 *
 * This file is the API: the C declarations are generated from it (scripts/gen-arginfo.sh), and IDEs and static analysers
 * may read it as it is. Seconds are floats, except in the calls kept from existing userland code.
 *
 * @generate-class-entries
 */

namespace {

    /**
     * Named locks on one Redis server: the string key $prefix . $key, taken by SET NX PX with an unguessable token and
     * given back by compare-and-delete, as described in https://redis.io/docs/latest/commands/set/.
     *
     * @strict-properties
     * @not-serializable
     */
    class DistributedLock implements \Dlock\LockManager
    {
        /**
         * Connects to nothing yet.
         *
         * @param string|array|null $server  DSN ("redis://user:pw@host:6379/0?connect_timeout=0.2&read_timeout=1", "rediss://…",
         *                                   "unix:///run/redis.sock?db=1"), the list [host, port, connect timeout in s], or
         *                                   phpredis' constructor array (host, port, auth, database, ssl, connectTimeout, readTimeout);
         *                                   null: INI dlock.server
         * @param string $prefix             the lock's key is exactly $prefix . $key
         * @param float|null $ttl            lease time in seconds of what is acquired without an explicit one (INI dlock.ttl, 10)
         * @param float|null $timeout        longest wait in seconds of acquire() (INI dlock.timeout, 60)
         * @param bool|null $renew           renew leases in the background; null: exactly those acquired without an
         *                                   explicit ttl
         * @param string $onLoss             "flag" (Lease::isHeld() turns false) or "throw" (LeaseLostException in the running
         *                                   code, between two of its opcodes)
         * @param bool|null $releaseOnShutdown release at the request's end whatever it still holds (INI dlock.release_on_shutdown, 1)
         * @param bool $legacy               share locks with hosts still running SETNX/GETSET timestamp code, or SETNX and EXPIRE.
         *                                   Every host with this class then needs it, and a $ttl shorter than the expiry in
         *                                   the old code by some 2 s: see docs/legacy.md
         * @throws \ValueError for what cannot be right in any of these
         */
        public function __construct(
            #[\SensitiveParameter] string|array|null $server = null,
            string $prefix = "Lock:",
            ?float $ttl = null,
            ?float $timeout = null,
            ?bool $renew = null,
            string $onLoss = "flag",
            ?bool $releaseOnShutdown = null,
            bool $legacy = false,
        ) {}

        /**
         * Takes the lock for this object.
         *
         * @param int|float|null $timeout seconds to wait; null: without limit, 0: try once
         * @param int|float|null $expire  seconds of lease; null: the object's $ttl, renewed while the request runs
         * @return bool false when the time was over
         * @throws \Dlock\ConnectionException | \Dlock\DeadlockException
         */
        public function lock(string $key, int|float|null $timeout = null, int|float|null $expire = null): bool {}

        /**
         * @return bool true when this object held the lock and it is released; false when it was not held or had been lost
         * @throws \Dlock\ConnectionException it is not known whether the lock was released; it will be at the end of its lease
         */
        public function release(string $key): bool {}

        /** @alias DistributedLock::release */
        public function unlock(string $key): bool {}

        /**
         * Releases all that this object took with lock().
         *
         * @return bool true when every one of them was still held
         * @throws \Dlock\ConnectionException
         */
        public function unlockAll(): bool {}

        /**
         * Sets the remaining lease time of a held lock; from then on it is no longer renewed.
         *
         * @param int|float $expire seconds
         * @return bool false when this object does not hold it
         * @throws \Dlock\ConnectionException
         */
        public function expire(string $key, int|float $expire): bool {}

        /**
         * Asks the server: is it this object that holds the lock now?
         *
         * @throws \Dlock\ConnectionException
         */
        public function isLocking(string $key): bool {}

        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        public function isLocked(string $resource): bool {}
    }

    /**
     * Redlock over N independent Redis masters: held when a majority says so
     * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
     *
     * A server that has been up for less than the lease time, or than INI dlock.restart_guard (10 s; 0: off), may have forgotten
     * locks and has no vote, unless all servers are such and can be reached.
     *
     * @strict-properties
     * @not-serializable
     */
    class RedLock implements \Dlock\LockManager
    {
        /**
         * Connects to nothing yet.
         *
         * @param array $servers   list of 1 to 64 different servers, each in a form that DistributedLock takes
         * @param int $retryDelay  ms; upper bound of the random pause between two attempts
         * @param int $retryCount  attempts of lock() in all
         * @param string $prefix   put before each resource to make its key
         * @param float|null $ttl  lease time in seconds of acquire() without an explicit one (INI dlock.ttl, 10)
         * @param float|null $timeout longest wait in seconds of acquire() (INI dlock.timeout, 60)
         * @param bool|null $renew see DistributedLock
         * @param string $onLoss   see DistributedLock
         * @param bool|null $releaseOnShutdown release at the request's end whatever it still holds (INI dlock.release_on_shutdown, 1);
         *                         false for locks that another process is to unlock()
         * @throws \ValueError for what cannot be right in any of these
         */
        public function __construct(
            #[\SensitiveParameter] array $servers,
            int $retryDelay = 200,
            int $retryCount = 3,
            string $prefix = "",
            ?float $ttl = null,
            ?float $timeout = null,
            ?bool $renew = null,
            string $onLoss = "flag",
            ?bool $releaseOnShutdown = null,
        ) {}

        /**
         * @param int $ttl ms
         * @return array{validity: float, resource: string, token: string, fencingToken: int}|false validity in ms;
         *         false after $retryCount attempts, also where too few servers answered
         */
        public function lock(string $resource, int $ttl = 10000): array|false {}

        /**
         * Takes what lock() returned, also in another process.
         *
         * @param array $lock with "resource" and "token"
         * @return bool true when it was held by a majority and is released
         */
        public function unlock(#[\SensitiveParameter] array $lock): bool {}

        /** @implementation-alias DistributedLock::acquire */
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::tryAcquire */
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        /** @implementation-alias DistributedLock::synchronized */
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        /** @implementation-alias DistributedLock::attach */
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::isLocked */
        public function isLocked(string $resource): bool {}
    }

#ifdef DLOCK_ZOOKEEPER
    /**
     * Locks on a ZooKeeper ensemble: ephemeral sequential nodes
     * (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks), one session per process.
     *
     * @strict-properties
     * @not-serializable
     */
    class ZkLock implements \Dlock\LockManager
    {
        /**
         * Connects to nothing yet.
         *
         * @param string|array $servers   "h1:2181,h2:2181/chroot", or ['host' => …, 'port' => …]
         * @param string $root            parent of all lock nodes, created on demand
         * @param float $sessionTimeout   seconds, negotiated with the ensemble
         * @param string|null $auth       "digest:user:password"; lock nodes are then readable and writable by it alone
         * @param float|null $timeout     longest wait in seconds of acquire() (INI dlock.timeout, 60)
         * @param string $onLoss          see DistributedLock
         * @param bool|null $releaseOnShutdown release at the request's end whatever it still holds (INI dlock.release_on_shutdown, 1)
         * @throws \ValueError for what cannot be right in any of these
         */
        public function __construct(
            #[\SensitiveParameter] string|array $servers = "127.0.0.1:2181",
            string $root = "/locks",
            float $sessionTimeout = 10.0,
            #[\SensitiveParameter] ?string $auth = null,
            ?float $timeout = null,
            string $onLoss = "flag",
            ?bool $releaseOnShutdown = null,
        ) {}

        /**
         * Takes the lock for this object.
         *
         * @param int|float|null $timeout seconds to wait; null: without limit, 0: try once
         * @return bool false when the time was over
         * @throws \Dlock\ConnectionException
         */
        public function lock(string $resource, int|float|null $timeout = null): bool {}

        /**
         * @implementation-alias DistributedLock::release
         * @return bool true when this object held the lock and it is released; false when it was not held or had been lost
         * @throws \Dlock\ConnectionException
         */
        public function release(string $resource): bool {}

        /** @implementation-alias DistributedLock::release */
        public function unlock(string $resource): bool {}

        /** @implementation-alias DistributedLock::acquire */
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::tryAcquire */
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        /** @implementation-alias DistributedLock::synchronized */
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        /** @implementation-alias DistributedLock::attach */
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::isLocked */
        public function isLocked(string $resource): bool {}
    }
#endif
}

namespace Dlock {

    /**
     * @var string
     * @cvalue PHP_DLOCK_VERSION
     */
    const VERSION = UNKNOWN;

    /** What DistributedLock, RedLock and ZkLock have in common. */
    interface LockManager
    {
        /**
         * Waits in C until the lock is held.
         *
         * @param string $resource    1 to 1024 bytes
         * @param float|null $timeout seconds; null: the manager's, 0: try once
         * @param float|null $ttl     seconds of lease; null: the manager's, renewed while the holder runs. ZkLock: the session is the lease, a $ttl is a ValueError
         * @throws AcquireTimeoutException | ConnectionException | QuorumException | DeadlockException
         */
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): Lease;

        /** The same, but null where acquire() would time out. */
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease;

        /**
         * Runs $criticalSection(Lease) under the lock, releases it, and returns its result.
         *
         * @throws LeaseLostException when the lease was lost before the section ended (the section's own exception is its previous)
         */
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed;

        /**
         * Takes up a lease that Lease::detach() handed over, from any process.
         *
         * @throws \ValueError when the handle was altered or is another kind of lock's
         * @throws LeaseLostException when the lease has ended meanwhile
         * @throws ConnectionException
         */
        public function attach(#[\SensitiveParameter] string $handle): Lease;

        /**
         * Is the lock held by anyone?
         *
         * @throws ConnectionException
         */
        public function isLocked(string $resource): bool;
    }

    enum LeaseState
    {
        case Held;
        /** Connection lost, lease time not yet over (Chubby's "jeopardy"). */
        case Uncertain;
        case Lost;
        case Released;
    }

    /**
     * One acquisition. Released when it goes out of scope, unless detached.
     *
     * @strict-properties
     * @not-serializable
     */
    final class Lease
    {
        public readonly string $resource;
        /** Owner token, unguessable. */
        public readonly string $token;
        /** Strictly greater than that of every earlier holder of the resource. */
        public readonly int $fencingToken;

        private function __construct() {}

        /** Never does I/O. */
        public function state(): LeaseState {}

        /** state() is Held or Uncertain, and lease time is left. No I/O. */
        public function isHeld(): bool {}

        /** Seconds for which the holder may still rely on the lock, 0.0 when lost. No I/O. */
        public function remaining(): float {}

        /** @throws LeaseLostException when isHeld() is false */
        public function assertHeld(): void {}

        /**
         * New lease time from now on, and for further renewals where it is renewed.
         *
         * @param float|null $ttl seconds; null: as before
         * @throws LeaseLostException | ConnectionException
         */
        public function refresh(?float $ttl = null): void {}

        /**
         * @return bool true: released by this call; false: it was already lost or released
         * @throws ConnectionException it is not known which
         */
        public function release(): bool {}

        /**
         * Stops renewal and automatic release, and returns a handle for LockManager::attach(). Who has the handle has the
         * lock; it contains no password. It is not signed: through the hands of somebody who must not change the fencing
         * token or the lease time in it, give it with a signature of your own. Not for ZkLock (its session cannot move).
         *
         * @throws LeaseLostException when there is nothing left to hand over
         */
        public function detach(): string {}
    }

    /**
     * This process' counters since it started.
     *
     * @return array<string, int|float> acquisitions, waits (acquisitions that did not succeed at once), wait_time (seconds),
     *         timeouts, releases, hand_overs_given (to a waiter, by a release; ZooKeeper does not tell), hand_overs_received,
     *         renewals, renewal_failures (left without an answer), losses, connections and reconnections (to Redis), sessions
     *         (on ZooKeeper). Under ZTS of this thread, but for the renewals
     */
    function stats(): array {}

    /** The base of all exceptions of dlock. */
    class DlockException extends \Exception {}
    /** The lock was not free in the time given. */
    class AcquireTimeoutException extends DlockException {}
    /** The lock is no longer this lease's. */
    class LeaseLostException extends DlockException {}
    /** A server could not be asked, or did not answer; names it, without passwords. */
    class ConnectionException extends DlockException {}

    /** Too few servers answered; says what each one said, without passwords. */
    class QuorumException extends ConnectionException
    {
        private array $serverErrors = [];

        /** @return array<string, string> "host:port" => reason */
        public function getServerErrors(): array {}
    }

    /** This process already holds the lock that it is about to wait for. */
    class DeadlockException extends DlockException {}
}
