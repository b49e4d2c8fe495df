<?php

/**
 * dlock: distributed locks, native.
 *
 * This file is the API. scripts/gen-arginfo.sh makes the C declarations from it, scripts/gen-reference.php makes
 * docs/reference.md, and scripts/gen-stubs.php makes packages/stubs/dlock.php for IDEs and static analyzers.
 *
 * @generate-class-entries
 */

namespace {

    /**
     * Stores locks in Redis, PostgreSQL, MySQL, MariaDB, one memcached server, or this process (memory://, for tests).
     * Redis can be one server, Sentinel, Cluster, or an endpoint whose replicas acknowledge.
     *
     * On Redis, a lock is the key $prefix . $resource. It is set with SET NX PX and a random token, and deleted only by
     * a script that compares the token. A contended lock goes to the process that has waited longest
     * (docs/hand-over.md).
     *
     * lock(), release(), unlock(), unlockAll(), expire() and isLocking() are the methods of existing PHP lock classes.
     * The other methods are those of Dlock\LockManager. If lock() acquired a lock, release it with release(). If
     * acquire() acquired it, release its Lease.
     *
     * @example
     * $locks = new DistributedLock('redis://127.0.0.1:6379', prefix: 'shop:', timeout: 2.0);
     * $locks->synchronized('order:7', fn (Dlock\Lease $lease) => ship(7));
     *
     * @strict-properties
     * @not-serializable
     */
    class DistributedLock implements \Dlock\LockManager
    {
        /**
         * Does not connect. The first call that needs the server does.
         *
         * @param string|array|null $server DSN or array (docs/operations.md). null: dlock.server
         * @param string $prefix Start of each key: the key of a lock is $prefix . $resource
         * @param float|null $ttl Default lease time, 0.003 s to 1 year; memcached 4 s to 30 days; at most the guard
         *         with replicas or in a database. null: dlock.ttl
         * @param float|null $timeout Longest wait of acquire() and synchronized(), 0 to 1 year; does not apply to
         *         lock(). null: dlock.timeout
         * @param bool|null $renew true: renew all leases. false: none. null: only leases acquired without a lease time
         * @param string $onLoss "flag": after a loss, Lease::isHeld() returns false. "throw": also throw
         *         LeaseLostException into the running code
         * @param bool|null $releaseOnShutdown true: release held locks when the request ends. false: they stay until
         *         their leases expire. null: dlock.release_on_shutdown
         * @param bool $legacy Share locks with hosts that run SETNX timestamp code (docs/legacy.md). Only for one Redis
         *         without replicas
         * @param bool $reentrant A fiber or coroutine that holds the lock through a reentrant object can acquire it
         *         again immediately (docs/leases.md)
         * @throws \ValueError | \TypeError an argument is out of range; the message names it and its range
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
            bool $reentrant = false,
        ) {}

        /**
         * Acquires the lock, waiting if necessary. With $reentrant, a lock can be acquired more than once: call
         * release() once for each lock().
         *
         * @param string $key Name of the lock, 1 to 1024 bytes, any bytes
         * @param int|float|null $timeout Longest wait, up to 1 year. null: no limit. 0: one attempt
         * @param int|float|null $expire Lease time, 0.003 s to 1 year (limits as for the object's $ttl). null: the
         *         object's $ttl, renewed while the request runs
         * @return bool true: acquired; false: not acquired within $timeout
         * @throws \Dlock\ConnectionException the server is unreachable
         * @throws \Dlock\DeadlockException immediately, if this process already holds the lock and renews it without
         *         limit (dlock.max_hold is 0)
         * @throws \Dlock\DlockException the renewal thread cannot be started
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379');
         * if ($locks->lock('invoice:7', timeout: 2)) {
         *     send_invoice(7);
         *     $locks->release('invoice:7');       // => true
         * }
         */
        public function lock(string $key, int|float|null $timeout = null, int|float|null $expire = null): bool {}

        /**
         * Releases a lock that this object acquired with lock().
         *
         * @param string $key Name of the lock, 1 to 1024 bytes
         * @return bool true: released by this call; false: this object did not hold the lock, or had lost it
         * @throws \Dlock\ConnectionException the outcome is unknown; the lock is free when its lease expires
         * @throws \Dlock\DlockException the lock was acquired with acquire(): use Lease::release()
         */
        public function release(string $key): bool {}

        /** @alias DistributedLock::release */
        public function unlock(string $key): bool {}

        /**
         * Releases all locks that this object acquired with lock().
         *
         * @return bool true: all were still held, or there were none; false: one was lost, or a Lease of this object
         *         holds a lock
         * @throws \Dlock\ConnectionException the outcome of one release is unknown; all releases were tried
         */
        public function unlockAll(): bool {}

        /**
         * Sets the remaining lease time of a lock that was acquired with lock(), and ends its renewal.
         *
         * @param string $key Name of the lock, 1 to 1024 bytes
         * @param int|float $expire Remaining lease time, 0.003 s to 1 year (limits as for the object's $ttl)
         * @return bool true: set; false: this object does not hold the lock
         * @throws \Dlock\ConnectionException the server is unreachable
         * @throws \Dlock\DlockException the lock was acquired with acquire(): use Lease::refresh()
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379', releaseOnShutdown: false);
         * if ($locks->lock('mail:user:7', 0)) {
         *     $locks->expire('mail:user:7', 30);  // => true
         * }                                       // the next mail to this user in 30 s at the earliest
         */
        public function expire(string $key, int|float $expire): bool {}

        /**
         * Asks the server whether this object holds the lock, through lock() or acquire().
         *
         * @param string $key Name of the lock, 1 to 1024 bytes
         * @return bool true: this object holds the lock; false: it is free, or another client holds it (see isLocked())
         * @throws \Dlock\ConnectionException the server is unreachable
         */
        public function isLocking(string $key): bool {}

        #[\NoDiscard]
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        #[\NoDiscard]
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        public function isLocked(string $resource): bool {}
        public function inspect(string $resource, int $waiters = 100): \Dlock\Inspection {}
        public function inspectAll(int $limit = 100): array {}
    }

    /**
     * Stores locks on a majority of independent Redis servers
     * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
     *
     * A server may have lost locks when it restarted. So it does not vote until it has been up for dlock.restart_guard,
     * or for the lease time if that is longer (docs/operations.md).
     *
     * @example
     * $locks = new RedLock(['redis://r1', 'redis://r2', 'redis://r3'], prefix: 'shop:');
     * $lease = $locks->acquire('order:7', timeout: 2.0);
     * ship(7);
     * $lease->release();                  // => true
     *
     * @strict-properties
     * @not-serializable
     */
    class RedLock implements \Dlock\LockManager
    {
        /**
         * Does not connect. Reads dlock.restart_guard.
         *
         * @param array $servers 1 to 64 different servers, each a DSN or array as for DistributedLock. They must be
         *         independent: no Sentinel, no Cluster, no replicas
         * @param int $retryDelay Longest pause between two attempts of lock(), 1 to 60,000 ms. Pauses are random, at
         *         least half as long
         * @param int $retryCount Maximum attempts of lock(), 1 to 1,000,000. There is no pause before the second one
         * @param string $prefix Start of each key: the key of a lock is $prefix . $resource
         * @param float|null $ttl Default lease time of acquire(), 0.003 s to 1 year. null: dlock.ttl
         * @param float|null $timeout Longest wait of acquire() and synchronized(), 0 to 1 year; does not apply to
         *         lock(). null: dlock.timeout
         * @param bool|null $renew true: renew all leases. false: none. null: only leases that acquire() acquires
         *         without a lease time
         * @param string $onLoss "flag": after a loss, Lease::isHeld() returns false. "throw": also throw
         *         LeaseLostException into the running code
         * @param bool|null $releaseOnShutdown true: release held locks when the request ends. false: they stay, so that
         *         another process can call unlock(). null: dlock.release_on_shutdown
         * @param bool $reentrant A fiber or coroutine that holds the lock through acquire() of a reentrant object can
         *         acquire() it again immediately (docs/leases.md)
         * @throws \ValueError | \TypeError an argument is out of range; the message names it and its range
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
            bool $reentrant = false,
        ) {}

        /**
         * Acquires the lock, with at most $retryCount attempts.
         *
         * @param string $resource Name of the lock, 1 to 1024 bytes, any bytes
         * @param int $ttl Lease time in milliseconds, 1 ms to 1 year. 1 and 2 always fail: 1 % and 2 ms are reserved
         *         for clock drift. Below 100, PHP warns
         * @return array{validity: float, resource: string, token: string, fencingToken: int}|false "validity":
         *         milliseconds for which the holder can rely on the lock; false: not acquired, or too few servers
         *         answered
         * @throws \Dlock\DlockException the renewal thread cannot be started ($renew true, or $onLoss "throw")
         *
         * @example
         * $locks = new RedLock(['redis://r1', 'redis://r2', 'redis://r3'], prefix: 'shop:');
         * $lock = $locks->lock('order:8', 10000);     // 10 s
         * if ($lock !== false) {
         *     ship(8);
         *     $locks->unlock($lock);              // => true
         * }
         */
        public function lock(string $resource, int $ttl = 10000): array|false {}

        /**
         * Releases a lock that lock() acquired in any process.
         *
         * @param array $lock The array that lock() returned; "resource" and "token" are used
         * @return bool true: a majority held the lock for this token; false: it did not, or too few servers answered
         * @throws \ValueError the array is not from lock()
         */
        public function unlock(#[\SensitiveParameter] array $lock): bool {}

        /** @implementation-alias DistributedLock::acquire */
        #[\NoDiscard]
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::tryAcquire */
        #[\NoDiscard]
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        /** @implementation-alias DistributedLock::synchronized */
        public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        /** @implementation-alias DistributedLock::attach */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::isLocked */
        public function isLocked(string $resource): bool {}
        /** @implementation-alias DistributedLock::inspect */
        public function inspect(string $resource, int $waiters = 100): \Dlock\Inspection {}
        /** @implementation-alias DistributedLock::inspectAll */
        public function inspectAll(int $limit = 100): array {}
    }

#ifdef DLOCK_ZOOKEEPER
    /**
     * Stores locks in a ZooKeeper ensemble, as ephemeral sequential nodes
     * (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks). A process has one session.
     *
     * @example
     * $locks = new ZkLock('zk1:2181,zk2:2181,zk3:2181');
     * $lease = $locks->tryAcquire('order:7');     // null: held elsewhere
     *
     * @strict-properties
     * @not-serializable
     */
    class ZkLock implements \Dlock\LockManager
    {
        /**
         * Does not connect. The first call that needs the servers opens the session.
         *
         * @param string|array $servers "h1:2181,h2:2181/chroot", or ['host' => …, 'port' => …]. Default port 2181
         * @param string $root Absolute path of the node that contains all locks. Created when needed
         * @param float $sessionTimeout 0.1 to 86,400 s. The servers raise or lower it to their own limits
         * @param string|null $auth "digest:user:password": only this user can access the nodes of its locks
         * @param float|null $timeout Longest wait of acquire() and synchronized(), 0 to 1 year; does not apply to
         *         lock(). null: dlock.timeout
         * @param string $onLoss "flag": after a loss, Lease::isHeld() returns false. "throw": also throw
         *         LeaseLostException into the running code
         * @param bool|null $releaseOnShutdown true: release held locks when the request ends. false: they stay until
         *         the worker's session ends. null: dlock.release_on_shutdown
         * @param bool $reentrant A fiber or coroutine that holds the lock through a reentrant object can acquire it
         *         again immediately (docs/leases.md)
         * @throws \ValueError | \TypeError an argument is out of range; the message names it and its range
         */
        public function __construct(
            #[\SensitiveParameter] string|array $servers = "127.0.0.1:2181",
            string $root = "/locks",
            float $sessionTimeout = 10.0,
            #[\SensitiveParameter] ?string $auth = null,
            ?float $timeout = null,
            string $onLoss = "flag",
            ?bool $releaseOnShutdown = null,
            bool $reentrant = false,
        ) {}

        /**
         * Acquires the lock, waiting if necessary. With $reentrant, a lock can be acquired more than once: call
         * release() once for each lock().
         *
         * @param string $resource Name of the lock, 1 to 1024 bytes, any bytes. Bytes that a node's name cannot contain
         *         are written as %XX
         * @param int|float|null $timeout Longest wait, up to 1 year. null: no limit. 0: one attempt
         * @return bool true: acquired; false: not acquired within $timeout
         * @throws \Dlock\ConnectionException no server is connected. The first call waits $sessionTimeout for a
         *         connection; later calls wait for the shorter of $sessionTimeout and $timeout
         * @throws \Dlock\DeadlockException immediately, if this process already holds the lock
         */
        public function lock(string $resource, int|float|null $timeout = null): bool {}

        /**
         * Releases a lock that this object acquired with lock().
         *
         * @param string $resource Name of the lock, 1 to 1024 bytes
         * @return bool true: released by this call; false: this object did not hold the lock, or had lost it
         * @throws \Dlock\DlockException the lock was acquired with acquire(): use Lease::release()
         * @throws \Dlock\ConnectionException the outcome is unknown; the lock is free when the session ends
         * @implementation-alias DistributedLock::release
         */
        public function release(string $resource): bool {}

        /** @implementation-alias DistributedLock::release */
        public function unlock(string $resource): bool {}

        /** @implementation-alias DistributedLock::acquire */
        #[\NoDiscard]
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::tryAcquire */
        #[\NoDiscard]
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        /** @implementation-alias DistributedLock::synchronized */
        public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        /** @implementation-alias DistributedLock::attach */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        /** @implementation-alias DistributedLock::isLocked */
        public function isLocked(string $resource): bool {}
        /** @implementation-alias DistributedLock::inspect */
        public function inspect(string $resource, int $waiters = 100): \Dlock\Inspection {}
        /** @implementation-alias DistributedLock::inspectAll */
        public function inspectAll(int $limit = 100): array {}
    }
#endif
}

namespace Dlock {

    /**
     * The extension's version.
     *
     * @var string
     * @cvalue PHP_DLOCK_VERSION
     */
    const VERSION = UNKNOWN;

    /**
     * Common methods of DistributedLock, RedLock, ZkLock and both sides of a ReadWriteLock. Use it as the type of a
     * parameter.
     *
     * A resource is 1 to 1024 bytes, any bytes. On Redis, prefix and resource must not form a key of dlock itself:
     * "dlock:fence", "dlock:era", "dlock:seen", or a key that begins with "dlock:queue:", "dlock:waiters:",
     * "dlock:held:", "dlock:fence:", "dlock:era:" or "dlock:seen:".
     */
    interface LockManager
    {
        /**
         * Acquires the lock, waiting if necessary. Waiters do not poll, except on memcached. Signal handlers run during
         * the wait.
         *
         * A list of resources is acquired completely or not at all (docs/leases.md). Lists work on Redis (also
         * RedLock), ZooKeeper and memory://.
         *
         * @param string|array $resource Name of the lock, 1 to 1024 bytes, any bytes; or a list of 1 to 64 names, in
         *         any order
         * @param float|null $timeout Longest wait, 0 to 1 year. null: the manager's $timeout. 0: one attempt
         * @param float|null $ttl Lease time, 0.003 s to 1 year (limits as for the manager's $ttl). null: that $ttl,
         *         renewed while the holder runs. ZkLock: must be null, because the session is the lease
         * @throws AcquireTimeoutException the lock was not free within the timeout
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException, if too few servers answer
         * @throws DeadlockException immediately, if this process already holds the lock and renews it without limit
         *         (dlock.max_hold is 0)
         * @throws DlockException the renewal thread cannot be started
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379');
         * $lease = $locks->acquire('order:7', timeout: 2.0);                  // renewed until it is released
         * $both = $locks->acquire(['stock:1', 'stock:2'], timeout: 2.0, ttl: 30.0);
         * $both->resources;                       // => ['stock:1', 'stock:2']
         */
        #[\NoDiscard]
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): Lease;

        /**
         * Like acquire(), but returns null instead of throwing AcquireTimeoutException.
         *
         * @param string|array $resource As for acquire()
         * @param float $timeout Longest wait, 0 to 1 year. 0: one attempt
         * @param float|null $ttl As for acquire()
         * @throws ConnectionException | DeadlockException | DlockException as for acquire()
         *
         * @example
         * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->tryAcquire('nightly');
         * if ($lease === null) {
         *     exit("running elsewhere\n");
         * }
         * write_report();
         */
        #[\NoDiscard]
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease;

        /**
         * Acquires the lock, calls $criticalSection with the Lease, releases the lock, and returns the callback's
         * result. A release without a reply is not an error: the lock is free when its lease expires.
         *
         * @param string|array $resource As for acquire()
         * @param callable $criticalSection Receives the Lease. Its exceptions pass through. If it returns a generator
         *         or promise, that is a TypeError: its work would continue without the lock
         * @param float|null $timeout As for acquire()
         * @param float|null $ttl As for acquire()
         * @throws LeaseLostException the lease was lost before the callback ended; an exception of the callback is its
         *         previous one
         * @throws AcquireTimeoutException | ConnectionException | DeadlockException | DlockException as for acquire(),
         *         before the callback
         *
         * @example
         * $left = (new DistributedLock('redis://127.0.0.1:6379'))->synchronized('stock:42', function (Dlock\Lease $lease) {
         *     $stock = read_stock(42) - 1;
         *     $lease->assertHeld();
         *     write_stock(42, $stock, $lease->fencingToken);
         *     return $stock;
         * }, timeout: 2.0);
         * $left;                                  // => 2
         */
        public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed;

        /**
         * Attaches a lease that Lease::detach() handed over, in any process, for its remaining time. The lease is
         * renewed if it was renewed before detach(), unless the manager's $renew is set to true or false.
         *
         * A handle works once: the lease receives a new token and a larger fencing token, so all copies of the handle
         * become invalid.
         *
         * @param string $handle What detach() returned. The manager needs the same class, servers and prefix
         * @throws \ValueError the handle was altered or belongs to another kind of lock. ZkLock: always
         * @throws LeaseLostException the handle was already attached, or the lease was released or has expired
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException. The change is undone on all
         *         servers that can be reached: try the handle again
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379');
         * $handle = $locks->acquire('import', ttl: 120.0)->detach();          // in a request: put it into the job
         * $lease = $locks->attach($handle);                                   // in the worker, within 120 s
         * write_report();
         * $lease->release();                      // => true
         */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease;

        /**
         * Returns whether any client holds the lock. The answer may be outdated when it arrives.
         *
         * @param string $resource Name of the lock, 1 to 1024 bytes, any bytes
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException
         */
        public function isLocked(string $resource): bool;

        /**
         * Returns the holder and the waiters of a lock at one moment, without disturbing them. For operators and
         * monitoring: the answer may be outdated when it arrives (docs/operations.md).
         *
         * @param string $resource Name of the lock, 1 to 1024 bytes, any bytes
         * @param int $waiters How many waiters to describe, in the order of the queue, 0 to 1000
         * @throws ConnectionException a server is unreachable, or the key has a value of another type; RedLock:
         *         QuorumException
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379');
         * $lease = $locks->acquire('report');
         * $locks->inspect('report')->holders[0]->pid === getmypid();          // => true
         * $locks->inspect('report')->waiting;     // => 0
         */
        public function inspect(string $resource, int $waiters = 100): Inspection;

        /**
         * Returns locks that have waiters, and renewed locks that have been held for longer than a third of their lease
         * time, the longest held first. Reads an index, not all keys. On ZooKeeper, in a database and on memory://,
         * returns all held locks.
         *
         * @param int $limit Maximum number of locks, 1 to 1000
         * @return list<Inspection> each describes at most one waiter
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException
         * @throws DlockException on memcached, which has no index
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379');
         * foreach ($locks->inspectAll() as $inspection) {
         *     printf("%s: %d waiting\n", $inspection->resource, $inspection->waiting);
         * }
         */
        public function inspectAll(int $limit = 100): array;
    }

    /** Holders and waiters of a lock at one moment (LockManager::inspect()). */
    final class Inspection
    {
        /** Name of the lock, as given to inspect(). */
        public readonly string $resource;
        /** That moment, as a Unix time by the server's clock. */
        public readonly float $at;
        /** List of Party. A lock has at most one holder. */
        public readonly array $holders;
        /** List of Party, in the order in which they will be served, if that is known. */
        public readonly array $waiters;
        /** Number of all waiters, including those that $waiters leaves out. */
        public readonly int $waiting;
        /**
         * RedLock: the state of the lock on each server, by "host:port": "held", "other" (held by another client),
         * "free", or the reason why the state is unknown.
         */
        public readonly array $servers;

        private function __construct() {}
    }

    /** A holder or a waiter in an Inspection. */
    final class Party
    {
        /** Identifies this party; "" if unknown. It is not the token and cannot release the lock. */
        public readonly string $id;
        /** Host name, or the host's IPv4 address until the name is known; "" for other programs. */
        public readonly string $host;
        /** Process ID; 0: unknown. */
        public readonly int $pid;
        /** Label of the process, see setLabel(); null: none, or not known yet. */
        public readonly ?string $label;
        /** "lock", "read", "write" or "permits". */
        public readonly string $mode;
        /** As Lease::$permits. */
        public readonly int $permits;
        /** When it requested the lock, as a Unix time by its host's clock; null: unknown. */
        public readonly ?float $askedAt;
        /**
         * When it acquired the lock, as a Unix time by its host's clock (in a database by the server's); null: it
         * waits, or this is not known yet.
         */
        public readonly ?float $heldSince;
        /** Remaining seconds of its lease by the server's clock; null: it waits, or its session is the lease. */
        public readonly ?float $remaining;
        /** Fencing token of its lease; null: it waits, or this is not known yet. */
        public readonly ?int $fencingToken;

        /** @implementation-alias Dlock\Inspection::__construct */
        private function __construct() {}
    }

    /**
     * What a holder knows about its lease, without asking a server (docs/leases.md).
     *
     * @example
     * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->acquire('report');
     * $lease->state();                        // => Dlock\LeaseState::Held
     * $lease->release();
     * $lease->state();                        // => Dlock\LeaseState::Released
     */
    enum LeaseState
    {
        /** The deadline has not passed. */
        case Held;
        /** The deadline has not passed, but the last request for more time has no reply. */
        case Uncertain;
        /** The deadline has passed, or a server reported that the lock no longer belongs to this lease. Final. */
        case Lost;
        /** Released, or handed over by detach(). */
        case Released;
    }

    /**
     * One acquisition of a lock. The lock is released when the last variable with the lease goes out of scope, unless
     * the lease was detached.
     *
     * The deadline counts from the moment at which the last acknowledged request was sent: the lease time minus 1 % and
     * 2 ms (on memcached 1 % and 2 to 4 s). It is never later than the server's. The clock continues while the machine
     * is suspended (docs/leases.md).
     *
     * @example
     * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->acquire('report', ttl: 60.0);
     * write_report();
     * $lease->assertHeld();               // throws if the lease was lost
     * $lease->release();                  // => true
     *
     * @strict-properties
     * @not-serializable
     */
    final class Lease
    {
        /** As given to acquire(). Several names are joined by ", ". */
        public readonly string $resource;
        /** Names of the locks: one, or several in the order of their bytes, each once. */
        public readonly array $resources;
        /**
         * Owner token: host, process ID, time and 80 random bits (without dlock.describe only random bits). Dumps,
         * traces and json_encode() omit it; foreach and get_object_vars() show it.
         */
        public readonly string $token;
        /**
         * Larger than that of every earlier holder of these locks; numbers may be skipped. For stores that reject a
         * stale write: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
         */
        public readonly int $fencingToken;
        /** Permits that were acquired from a Semaphore; otherwise 1. */
        public readonly int $permits;

        private function __construct() {}

        /** Returns the state of the lease. No I/O. */
        public function state(): LeaseState {}

        /** Returns whether state() is Held or Uncertain. No I/O. */
        public function isHeld(): bool {}

        /**
         * Returns the seconds for which the holder can still rely on the lock; 0.0 if it is lost or released. No I/O.
         * After a wait on one Redis server or in a database, this is at most 3 s at first: the renewal thread requests
         * the full lease time about a second later.
         */
        public function remaining(): float {}

        /**
         * Throws if the lease is no longer held. Call it right before a write. No I/O.
         *
         * @throws LeaseLostException isHeld() is false
         */
        public function assertHeld(): void {}

        /**
         * Sets the remaining lease time to $ttl seconds from now. Later renewals use the same time.
         *
         * @param float|null $ttl New lease time, 0.003 s to 1 year (limits as for the manager's $ttl). null: the last
         *         one. ZkLock: must be null; nothing is sent
         * @throws LeaseLostException the lease was lost, has expired or was released
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException. The lease continues with the
         *         shorter of both times
         *
         * @example
         * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->acquire('report', ttl: 10.0);
         * foreach ([1, 2, 3] as $chapter) {
         *     $lease->refresh(10.0);              // LeaseLostException: it was too late
         *     write_report();
         * }
         */
        public function refresh(?float $ttl = null): void {}

        /**
         * Releases the lock. Afterwards the lease has ended, even if the server did not answer.
         *
         * @return bool true: released by this call; false: already lost, released or detached
         * @throws ConnectionException the outcome is unknown; RedLock: QuorumException. The lock is free when its lease
         *         expires. If the work is already finished, catch this exception or use LockManager::synchronized()
         */
        public function release(): bool {}

        /**
         * Stops renewal and automatic release, and returns a handle for LockManager::attach(). The handle works once.
         *
         * The lease keeps its remaining time: choose a lease time that lasts until the next process attaches it. Any
         * process that has the handle can attach the lease. The handle contains no password and is not signed: sign it
         * if it passes through untrusted hands. On ZooKeeper a lease cannot be detached, because its session stays with
         * the process.
         *
         * @throws LeaseLostException the lease has already ended
         * @throws ConnectionException after a wait on one Redis server or in a database, if the server does not answer;
         *         the lease is still held
         * @throws DlockException the lease is on ZooKeeper, has names in several hash slots of a cluster, or its lock
         *         has been acquired more than once ($reentrant)
         */
        public function detach(): string {}

        /**
         * Makes a reader of a ReadWriteLock the writer. No other client has written in between, and $fencingToken is
         * larger afterwards.
         *
         * It waits for the other readers, before all waiting writers. New readers wait meanwhile. Not available on
         * ZooKeeper.
         *
         * @param float|null $timeout Longest wait for the other readers, 0 to 1 year. null: the lock's $timeout. 0: one
         *         attempt
         * @throws AcquireTimeoutException other readers still hold the lock, or no lock is granted after a failover;
         *         the lease stays a reader's
         * @throws DeadlockException immediately, if another reader already waits in upgrade(): release the lock, then
         *         acquire it for writing
         * @throws LeaseLostException the lease has ended
         * @throws ConnectionException the outcome is unknown: call upgrade() again, or downgrade()
         * @throws DlockException on ZooKeeper; or after a downgrade() with an unknown outcome
         */
        public function upgrade(?float $timeout = null): void {}

        /**
         * Makes the writer of a ReadWriteLock a reader. The waiting readers are granted, too, and no writer comes in
         * between. A reader stays a reader.
         *
         * @throws LeaseLostException the lease has ended
         * @throws ConnectionException the outcome is unknown: other clients may read, and upgrade() is refused from
         *         then on. Call downgrade() again if necessary
         * @throws DlockException on ZooKeeper
         */
        public function downgrade(): void {}
    }

    /** Methods of Semaphore, as a type for parameters and test doubles. */
    interface SemaphoreInterface
    {
        /**
         * Acquires the permits, waiting if necessary. Waiters do not poll. Signal handlers run during the wait.
         *
         * @param string $resource Name of the resource, 1 to 1024 bytes, any bytes
         * @param int $permits Number of permits, 1 to the capacity. They are acquired and released together
         * @param float|null $timeout Longest wait, 0 to 1 year. null: the semaphore's $timeout. 0: one attempt
         * @param float|null $ttl Lease time, 0.003 s to 1 year (limits as for the semaphore's $ttl). null: that $ttl,
         *         renewed while the holder runs. ZooKeeper: must be null
         * @return Lease with these permits; its fencing token is larger than that of every earlier holder of the
         *         resource
         * @throws AcquireTimeoutException too few permits were free within the timeout
         * @throws ConnectionException the server is unreachable
         * @throws DeadlockException immediately, if this process already holds too many permits and renews them without
         *         limit (dlock.max_hold is 0)
         * @throws DlockException the renewal thread cannot be started
         *
         * @example
         * $exports = new Dlock\Semaphore(4, 'redis://127.0.0.1:6379');
         * $lease = $exports->acquire('csv', permits: 3, timeout: 10.0);
         * $exports->availablePermits('csv');      // => 1
         * $lease->release();                      // => true
         */
        #[\NoDiscard]
        public function acquire(string $resource, int $permits = 1, ?float $timeout = null, ?float $ttl = null): Lease;

        /**
         * Like acquire(), but returns null instead of throwing AcquireTimeoutException.
         *
         * @param string $resource Name of the resource, 1 to 1024 bytes, any bytes
         * @param int $permits Number of permits, 1 to the capacity
         * @param float $timeout Longest wait, 0 to 1 year. 0: one attempt
         * @param float|null $ttl As for acquire()
         * @throws ConnectionException | DeadlockException | DlockException as for acquire()
         */
        #[\NoDiscard]
        public function tryAcquire(string $resource, int $permits = 1, float $timeout = 0.0, ?float $ttl = null): ?Lease;

        /**
         * Acquires the permits, calls $criticalSection with the Lease, releases the permits, and returns the callback's
         * result. A release without a reply is not an error: the permits are free when the lease expires.
         *
         * @param string $resource Name of the resource, 1 to 1024 bytes, any bytes
         * @param callable $criticalSection Receives the Lease. Its exceptions pass through. If it returns a generator
         *         or promise, that is a TypeError: its work would continue without the permits
         * @param int $permits Number of permits, 1 to the capacity
         * @param float|null $timeout As for acquire()
         * @param float|null $ttl As for acquire()
         * @throws LeaseLostException the lease was lost before the callback ended; an exception of the callback is its
         *         previous one
         * @throws AcquireTimeoutException | ConnectionException | DeadlockException | DlockException as for acquire(),
         *         before the callback
         */
        public function synchronized(string $resource, callable $criticalSection, int $permits = 1, ?float $timeout = null, ?float $ttl = null): mixed;

        /**
         * Attaches a lease that Lease::detach() handed over, like LockManager::attach().
         *
         * @param string $handle What detach() returned. The semaphore needs the same server and prefix
         * @throws \ValueError the handle was altered or belongs to another kind of lock. ZooKeeper: always
         * @throws LeaseLostException the handle was already attached, or the lease was released or has expired
         * @throws ConnectionException the server is unreachable
         */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease;

        /**
         * Returns the number of permits that are free now; 0 if more are held than this semaphore's capacity. Waiters
         * may be served first.
         *
         * @param string $resource Name of the resource, 1 to 1024 bytes, any bytes
         * @throws ConnectionException the server is unreachable
         */
        public function availablePermits(string $resource): int;

        /**
         * Like LockManager::inspect(): returns the holders of permits, and the waiters.
         *
         * @param string $resource Name of the resource, 1 to 1024 bytes, any bytes
         * @param int $waiters How many holders, and how many waiters, to describe, 0 to 1000 each
         * @throws ConnectionException the server is unreachable
         */
        public function inspect(string $resource, int $waiters = 100): Inspection;

        /**
         * Like LockManager::inspectAll().
         *
         * @param int $limit Maximum number of resources, 1 to 1000
         * @return list<Inspection> as for LockManager::inspectAll()
         * @throws ConnectionException the server is unreachable
         */
        public function inspectAll(int $limit = 100): array;
    }

    /**
     * Counting semaphores on Redis 6.2 or later, ZooKeeper or memory://. At most $capacity permits of a resource are
     * held at a time. Permits are granted in the order of the requests: smaller requests do not overtake a large one.
     * If a holder crashes, its permits are free when its lease expires.
     *
     * @example
     * $exports = new Dlock\Semaphore(4, 'redis://127.0.0.1:6379');
     * $exports->synchronized('pdf', fn () => write_report(), permits: 2, timeout: 10.0);
     *
     * @strict-properties
     * @not-serializable
     */
    final class Semaphore implements SemaphoreInterface
    {
        /**
         * Does not connect.
         *
         * @param int $capacity Permits of each resource, 1 to 999,999,999. Not stored: a request waits until its
         *         permits and those in use are at most its own capacity
         * @param string|array|null $server Redis or memory:// as for DistributedLock; or ZooKeeper:
         *         "zookeeper://h1:2181,h2:2181/root?session_timeout=10". null: dlock.server
         * @param string $prefix Start of each key: the key of a resource is $prefix . $resource
         * @param float|null $ttl Default lease time, 0.003 s to 1 year; at most the guard with replicas. null:
         *         dlock.ttl. ZooKeeper: must be null
         * @param float|null $timeout Longest wait of acquire() and synchronized(), 0 to 1 year. null: dlock.timeout
         * @param bool|null $renew true: renew all leases. false: none. null: only leases acquired without a lease time.
         *         ZooKeeper: must be null
         * @param string $onLoss "flag": after a loss, Lease::isHeld() returns false. "throw": also throw
         *         LeaseLostException into the running code
         * @param bool|null $releaseOnShutdown true: release held permits when the request ends. false: they stay until
         *         their leases expire. null: dlock.release_on_shutdown
         * @throws \ValueError | \TypeError an argument is out of range; the message names it and its range
         */
        public function __construct(
            int $capacity,
            #[\SensitiveParameter] string|array|null $server = null,
            string $prefix = "Semaphore:",
            ?float $ttl = null,
            ?float $timeout = null,
            ?bool $renew = null,
            string $onLoss = "flag",
            ?bool $releaseOnShutdown = null,
        ) {}

        #[\NoDiscard]
        public function acquire(string $resource, int $permits = 1, ?float $timeout = null, ?float $ttl = null): Lease {}
        #[\NoDiscard]
        public function tryAcquire(string $resource, int $permits = 1, float $timeout = 0.0, ?float $ttl = null): ?Lease {}
        public function synchronized(string $resource, callable $criticalSection, int $permits = 1, ?float $timeout = null, ?float $ttl = null): mixed {}
        /** @implementation-alias DistributedLock::attach */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease {}
        public function availablePermits(string $resource): int {}
        /** @implementation-alias DistributedLock::inspect */
        public function inspect(string $resource, int $waiters = 100): Inspection {}
        /** @implementation-alias DistributedLock::inspectAll */
        public function inspectAll(int $limit = 100): array {}
    }

    /** Methods of ReadWriteLock, as a type for parameters and test doubles. */
    interface ReadWriteLockInterface
    {
        /**
         * Returns the lock for readers. Many readers can hold it at a time. Lease::upgrade() makes a reader the writer.
         */
        public function readLock(): LockManager;

        /**
         * Returns the lock for writers. One writer holds it, and no reader does.
         *
         * @example
         * $prices = new Dlock\ReadWriteLock('redis://127.0.0.1:6379');
         * $prices->writeLock()->synchronized('stock:43', fn (Dlock\Lease $lease) => write_stock(43, 5, $lease->fencingToken));
         */
        public function writeLock(): LockManager;
    }

    /**
     * Read/write locks on Redis 6.2 or later, ZooKeeper or memory://. A resource has any number of readers, or one
     * writer.
     *
     * By default they are phase-fair: after a writer, all waiting readers are granted; after readers, the first writer
     * (Brandenburg and Anderson, "Reader-Writer Synchronization for Shared-Memory Multiprocessor Real-Time Systems",
     * 2009). Neither side starves, and a reader waits for at most one writer. On ZooKeeper, all requests are served in
     * their order.
     *
     * @example
     * $prices = new Dlock\ReadWriteLock('redis://127.0.0.1:6379');
     * $prices->readLock()->synchronized('stock:42', fn () => read_stock(42));    // => 3
     *
     * @strict-properties
     * @not-serializable
     */
    final class ReadWriteLock implements ReadWriteLockInterface
    {
        /**
         * Does not connect.
         *
         * @param string|array|null $server Redis or memory:// as for DistributedLock; or ZooKeeper:
         *         "zookeeper://h1:2181,h2:2181/root?session_timeout=10". null: dlock.server
         * @param string $prefix Start of each key: the key of a resource is $prefix . $resource
         * @param float|null $ttl Default lease time, 0.003 s to 1 year; at most the guard with replicas. null:
         *         dlock.ttl. ZooKeeper: must be null
         * @param float|null $timeout Longest wait of acquire() and synchronized(), 0 to 1 year. null: dlock.timeout
         * @param bool|null $renew true: renew all leases. false: none. null: only leases acquired without a lease time.
         *         ZooKeeper: must be null
         * @param string $onLoss "flag": after a loss, Lease::isHeld() returns false. "throw": also throw
         *         LeaseLostException into the running code
         * @param bool|null $releaseOnShutdown true: release held locks when the request ends. false: they stay until
         *         their leases expire. null: dlock.release_on_shutdown
         * @param string $fairness "phase"; or "fifo": in the order of the requests, for many writers and few readers.
         *         All programs that share a lock need the same value. ZooKeeper: always "fifo"
         * @throws \ValueError | \TypeError an argument is out of range; the message names it and its range
         */
        public function __construct(
            #[\SensitiveParameter] string|array|null $server = null,
            string $prefix = "ReadWriteLock:",
            ?float $ttl = null,
            ?float $timeout = null,
            ?bool $renew = null,
            string $onLoss = "flag",
            ?bool $releaseOnShutdown = null,
            string $fairness = "phase",
        ) {}

        public function readLock(): LockManager {}
        public function writeLock(): LockManager {}
    }

    /**
     * One side of a ReadWriteLock, as readLock() and writeLock() return it. Use LockManager as the type. On both sides,
     * isLocked() returns whether any client reads or writes. A handle can only be attached on the side that it comes
     * from.
     *
     * @strict-properties
     * @not-serializable
     */
    final class ReadWriteLockSide implements LockManager
    {
        /** @implementation-alias Dlock\Inspection::__construct */
        private function __construct() {}

        /** @implementation-alias DistributedLock::acquire */
        #[\NoDiscard]
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): Lease {}
        /** @implementation-alias DistributedLock::tryAcquire */
        #[\NoDiscard]
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease {}
        /** @implementation-alias DistributedLock::synchronized */
        public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        /** @implementation-alias DistributedLock::attach */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease {}
        /** @implementation-alias DistributedLock::isLocked */
        public function isLocked(string $resource): bool {}
        /** @implementation-alias DistributedLock::inspect */
        public function inspect(string $resource, int $waiters = 100): \Dlock\Inspection {}
        /** @implementation-alias DistributedLock::inspectAll */
        public function inspectAll(int $limit = 100): array {}
    }

    /** State of an order. */
    enum OrderState: string
    {
        /** Its units are reserved until the reservation expires. */
        case Reserved = "reserved";
        /** The reservation expired. The order holds no units, and can still be confirmed while units are available. */
        case Ended = "ended";
        /** Its units are sold. */
        case Sold = "sold";
        /** It was cancelled. It holds no units and cannot be confirmed. */
        case Cancelled = "cancelled";
        /** It was sold, and later refunded. */
        case Refunded = "refunded";
    }

    /** An order, as it was when the server was queried (Stock::order(), Stock::orders()). */
    final class Order
    {
        /** State of the order. */
        public readonly OrderState $state;
        /** Units by SKU, as int. On a page of Stock::orders(), only those of that product. */
        public readonly array $items;
        /** Name of the buyer, as given to Stock::reserve(). */
        public readonly string $buyer;
        /** Name of the order, as given to Stock::reserve(). */
        public readonly string $order;
        /** When it entered this state, as a Unix time by the server's clock; of a reservation: when it expires. */
        public readonly float $at;
        /** Remaining seconds of a reservation; null in all other states. */
        public readonly ?float $remaining;

        /** @implementation-alias Dlock\Inspection::__construct */
        private function __construct() {}
    }

    /** A page of a product's orders. Iterate over it with foreach. */
    final class OrderPage implements \IteratorAggregate
    {
        /** List of Order. */
        public readonly array $orders;
        /** Pass this as $after to fetch the next page; null: this is the last page. */
        public readonly ?string $next;

        /** @implementation-alias Dlock\Inspection::__construct */
        private function __construct() {}

        /** Returns an iterator over $orders. */
        public function getIterator(): \Iterator {}
    }

    /** Methods of Stock, as a type for parameters and test doubles. */
    interface Inventory
    {
        /**
         * Adds units to a stock, or removes units that are neither reserved nor sold.
         *
         * @param string $sku Name of the product, 1 to 255 bytes
         * @param int $quantity Units to add, 1 to 999,999,999; a stock has no more than that, and the excess is not
         *         added. Below 0: units to remove, as far as they are available
         * @param string|null $change Name of this change (idempotency key): a change with this name is applied once,
         *         and the name is remembered. null: each call changes the stock
         * @return int by how many units the stock changed; for a repeated name, by how many it changed the first time
         * @throws ConnectionException the outcome is unknown; with a name, repeat the call
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Restock:');
         * $stock->restock('shoe', 100, 'delivery 17');        // => 100
         * $stock->restock('shoe', 100, 'delivery 17');        // => 100
         * $stock->counts('shoe')['available'];                // => 100
         * $stock->restock('shoe', -10, 'broken');             // => -10
         */
        public function restock(string $sku, int $quantity, ?string $change = null): int;

        /**
         * Reserves all of the items, or none. If repeated with the same $buyer and $order, returns the same
         * reservation.
         *
         * The name of an order that ended, or was cancelled or refunded, can be reserved again. Earlier Reservation
         * objects do not act on the new order.
         *
         * @param string|array $items One unit of this SKU; or units by SKU, 1 to 999,999,999 each, of 1 to 16 products.
         *         On a cluster these must share a hash slot, through a common part in braces
         * @param string $buyer Name of the buyer, 1 to 255 bytes. $perBuyer counts the units of each buyer
         * @param string $order Name of the order, 1 to 255 bytes, such as its number. With $buyer it identifies the
         *         order in later calls
         * @param float $timeout Longest wait for units that other buyers have reserved, 0 to 1 year. Returns null
         *         immediately if none are reserved, or if fewer than requested are unsold
         * @param float|null $ttl How long the reservation lasts, 0.003 s to 1 year. null: the Stock's $ttl
         * @param bool $strict true: throw UnknownProductException if the product was never put into stock. false:
         *         return null
         * @return Reservation|null null: too few units are available, the sale is closed or has ended, or the order was
         *         cancelled while it waited. An order that is already sold is returned as well
         * @throws LimitExceededException the buyer would have more than $perBuyer units
         * @throws OrderConflictException an order of this name exists for one of these products, with other quantities
         *         or other products
         * @throws ConnectionException the outcome is unknown; repeat the call with the same $order
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Reserve:');
         * $stock->restock('shoe', 2, 'delivery 17');
         * $stock->restock('socks', 2, 'delivery 17');
         * $both = $stock->reserve(['shoe' => 1, 'socks' => 2], buyer: 'user:7', order: '4711', ttl: 300.0);    // all or nothing
         * $stock->reserve('socks', buyer: 'user:8', order: '4712');           // => null
         */
        public function reserve(string|array $items, string $buyer, string $order, float $timeout = 0.0, ?float $ttl = null, bool $strict = false): ?Reservation;

        /**
         * Returns a reservation that was made by any process, without asking the server. It acts on the last order of
         * this name.
         *
         * @param string|array $items As given to reserve(); quantities do not matter
         * @param string $buyer As given to reserve()
         * @param string $order As given to reserve()
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Webhook:');
         * $stock->restock('shoe', 2, 'delivery 17');
         * $stock->reserve('shoe', buyer: 'user:7', order: '4711');            // in a request
         * $stock->reservation('shoe', 'user:7', '4711')->confirm();           // => true
         */
        public function reservation(string|array $items, string $buyer, string $order): Reservation;

        /**
         * Returns an order and its state. Changes nothing.
         *
         * @param string|array $items As given to reserve(); quantities do not matter
         * @param string $buyer As given to reserve()
         * @param string $order As given to reserve()
         * @return Order|null null: there is no such order of these products, or it is no longer remembered
         * @throws ConnectionException the server is unreachable
         */
        public function order(string|array $items, string $buyer, string $order): ?Order;

        /**
         * Returns a page of a product's orders. Orders of one state are sorted by the time at which they entered it;
         * reservations, by when they expire. Changes nothing.
         *
         * Use it for reports and comparisons, not for a page that buyers load: with $buyer, the server reads the orders
         * of all buyers.
         *
         * @param string $sku Name of the product
         * @param string|null $buyer Only orders of this buyer. null: of all buyers
         * @param OrderState|null $state Only orders in this state. null: in all states
         * @param float $since Only orders that entered $state at this Unix time or later; reservations: that expire
         *         then or later. Needs $state
         * @param int $limit Maximum number of orders, 1 to 1000. Pages before the last may have fewer, or none
         * @param string|null $after $next of the previous page. null: the first page
         * @throws \ValueError an $after that is not from a page, or a $since without $state
         * @throws ConnectionException the server is unreachable
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Orders:');
         * $stock->restock('shoe', 2, 'delivery 17');
         * $stock->reserve('shoe', buyer: 'user:7', order: '4711')->confirm();
         * foreach ($stock->orders('shoe', state: Dlock\OrderState::Sold, since: microtime(true) - 86400) as $order) {
         *     $order->items;                      // => ['shoe' => 1]
         * }                                       // the next page: after: $page->next
         */
        public function orders(string $sku, ?string $buyer = null, ?OrderState $state = null, float $since = 0.0, int $limit = 100, ?string $after = null): OrderPage;

        /**
         * Returns the units of a product at one moment. Available, reserved and sold units together are all units of
         * the stock.
         *
         * @param string|array $sku Name of the product, or a list of 1 to 16 names. Products that share a hash slot are
         *         counted at the same moment
         * @param bool $confirmed true: with replicas, wait until they have acknowledged what is counted
         * @return array{state: string, available: int, reserved: int, sold: int, waiting: int, uncertain: ?float}
         *         "state" is "unknown", "open", "closed" or "ended"; "waiting" counts requests, and includes those of
         *         dead processes until their turn; "uncertain" is as Reservation::$uncertain; the remaining entries
         *         count units. For a list: such an array by SKU
         * @throws ConnectionException the server is unreachable
         */
        public function counts(string|array $sku, bool $confirmed = false): array;

        /**
         * Opens a closed sale.
         *
         * @param string $sku Name of the product
         * @throws UnknownProductException the product was never put into stock
         * @throws SaleEndedException the sale has ended
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function open(string $sku): void;

        /**
         * Closes a sale until open() is called. reserve() returns null, even for requests that wait. Reservations can
         * still be confirmed, even after they expired.
         *
         * @param string $sku Name of the product
         * @throws UnknownProductException the product was never put into stock
         * @throws SaleEndedException the sale has ended
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function close(string $sku): void;

        /**
         * Closes a sale for good. Reservations can be confirmed until they expire.
         *
         * @param string $sku Name of the product
         * @throws UnknownProductException the product was never put into stock
         * @throws ConnectionException the outcome is unknown; repeat the call
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'End:');
         * $stock->restock('shoe', 2, 'delivery 17');
         * $stock->close('shoe');
         * $stock->reserve('shoe', buyer: 'user:7', order: '4711');            // => null
         * $stock->open('shoe');
         * $stock->end('shoe');
         * $stock->counts('shoe')['state'];        // => 'ended'
         */
        public function end(string $sku): void;
    }

    /**
     * Stocks of products, on Redis 6.2 or later or memory://. Units are reserved for a time, then sold or available
     * again. A stock is never oversold, and its counts are exact at every moment. No lock is needed, because each call
     * is one script on the server. docs/stock.md shows a complete sale.
     *
     * The key of a product is exactly $prefix . $sku. It stays until it is deleted, because it records each sold order.
     * SKUs and the names of buyers, orders and changes are 1 to 255 bytes, any bytes. A SKU must not form a key of
     * dlock itself (see LockManager).
     *
     * A request with a name counts once, however often it is sent: after a ConnectionException, repeat the call.
     *
     * @example
     * $stock = new Dlock\Stock('redis://127.0.0.1:6379', perBuyer: 2);
     * $stock->restock('shoe', 1000, 'spring sale');
     * $reservation = $stock->reserve('shoe', buyer: 'user:7', order: 'order:4711', ttl: 300.0);    // null: sold out, or all reserved
     *
     * @strict-properties
     * @not-serializable
     */
    final class Stock implements Inventory
    {
        /**
         * Does not connect.
         *
         * @param string|array|null $server Redis as for DistributedLock, with or without failover; or memory://. With
         *         replicas, a call returns when enough of them have its result (docs/fail-over.md). null: dlock.server
         * @param string $prefix Start of each key: the key of a product is exactly $prefix . $sku
         * @param float $ttl How long a reservation lasts by default, 0.003 s to 1 year
         * @param int|null $perBuyer Maximum units of one product that a buyer can have, reserved and sold, 1 to
         *         999,999,999. Sent with each request, not stored. null: no limit
         * @param string $fairness "fit": units go to the first waiting request that they are enough for. "fifo": no
         *         later request passes a waiting one of this object, so units may stay unsold meanwhile
         * @param float $remember How long ended and cancelled orders are remembered, 1 s to 1 year. restock() stores it
         * @throws \ValueError | \TypeError an argument is out of range; the message names it and its range
         */
        public function __construct(
            #[\SensitiveParameter] string|array|null $server = null,
            string $prefix = "Stock:",
            float $ttl = 600.0,
            ?int $perBuyer = null,
            string $fairness = "fit",
            float $remember = 86400.0,
        ) {}

        public function restock(string $sku, int $quantity, ?string $change = null): int {}
        public function reserve(string|array $items, string $buyer, string $order, float $timeout = 0.0, ?float $ttl = null, bool $strict = false): ?Reservation {}
        public function reservation(string|array $items, string $buyer, string $order): Reservation {}
        public function order(string|array $items, string $buyer, string $order): ?Order {}
        public function orders(string $sku, ?string $buyer = null, ?OrderState $state = null, float $since = 0.0, int $limit = 100, ?string $after = null): OrderPage {}
        public function counts(string|array $sku, bool $confirmed = false): array {}
        public function open(string $sku): void {}
        public function close(string $sku): void {}
        public function end(string $sku): void {}
    }

    /**
     * Units that are reserved for a buyer. The reservation outlives this object and its process: destroying the object
     * cancels nothing. Any process can act on it through Stock::reservation().
     *
     * @example
     * $stock = new Dlock\Stock('redis://127.0.0.1:6379');
     * $stock->restock('mug', 10, 'first batch');
     * $reservation = $stock->reserve(['mug' => 2], buyer: 'user:7', order: 'order:4712');
     * $reservation->confirm();            // => true
     *
     * @strict-properties
     * @not-serializable
     */
    final class Reservation
    {
        /** Units by SKU, as int. */
        public readonly array $items;
        /** Name of the buyer, as given to Stock::reserve(). */
        public readonly string $buyer;
        /** Name of the order, as given to Stock::reserve(). */
        public readonly string $order;
        /**
         * Larger than that of every earlier reply of reserve() for these products; 0 if it comes from
         * Stock::reservation().
         */
        public readonly int $fencingToken;
        /**
         * Unix time until which sales may be missing after a failover, according to the last reply (docs/fail-over.md).
         * null: none are missing.
         */
        public readonly ?float $uncertain;

        /** @implementation-alias Dlock\Inspection::__construct */
        private function __construct() {}

        /**
         * Returns the seconds for which no other buyer can reserve the units, as far as this object knows: 0.0 before
         * its first request, INF if they are sold to this buyer. Counted like the deadline of a lease. No I/O.
         */
        public function remaining(): float {}

        /**
         * Returns the current state of the order. Changes nothing.
         *
         * @return OrderState|null null: there is no such order, or it is no longer remembered
         * @throws ConnectionException the server is unreachable
         */
        public function status(): ?OrderState {}

        /**
         * Extends the reservation to at least $ttl seconds from now. Never shortens it.
         *
         * @param float|null $ttl 0.003 s to 1 year. null: the time for which it was reserved, or the Stock's $ttl
         * @throws ReservationExpiredException the order has ended, or was cancelled, sold or refunded
         * @throws OrderConflictException the order is for other products
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function extend(?float $ttl = null): void {}

        /**
         * Marks the reserved units as sold. Idempotent.
         *
         * An expired reservation can still be confirmed if enough units are available, $perBuyer allows it, and the
         * sale has not ended. It comes before waiting requests.
         *
         * @return bool true: sold by this call; false: already sold before
         * @throws ReservationExpiredException nothing is sold: the reservation expired and confirm() can no longer
         *         succeed, or the order was cancelled or refunded. Call cancel() before you refund the payment: an
         *         earlier attempt whose reply was lost may still reach the server
         * @throws OrderConflictException the order is for other products: no part of an order is sold
         * @throws ConnectionException the outcome is unknown; repeat the call
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Confirm:');
         * $stock->restock('shoe', 2, 'delivery 17');
         * $reservation = $stock->reserve('shoe', buyer: 'user:7', order: '4711');
         * $reservation->confirm();                // => true
         * $reservation->confirm();                // => false
         */
        public function confirm(): bool {}

        /**
         * Cancels the order: its units become available, first for waiting requests. If the order waits in reserve(),
         * withdraws it. A later confirm() is refused.
         *
         * @return bool true: cancelled by this call; false: nothing was reserved, or the units are already sold (a sale
         *         is not undone)
         * @throws OrderConflictException the order is for other products
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function cancel(): bool {}

        /**
         * Refunds a sold order, or a part of it.
         *
         * @param bool $restock true: the units are for sale again. false: they leave the stock. Must be a bool, also
         *         without strict_types
         * @param int|null $quantity Units to refund, of an order of one product. null: the whole order
         * @param string|null $change Name of a partial refund (idempotency key): it is applied once. Required with
         *         $quantity
         * @return bool true: refunded by this call; false: already refunded before
         * @throws ReservationExpiredException there is no such order, or its name was reserved again
         * @throws OrderConflictException the order is not sold, is for other products, or has fewer units
         * @throws ConnectionException the outcome is unknown; repeat the call
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Refunds:');
         * $stock->restock('shoe', 5, 'delivery 17');
         * $order = $stock->reserve(['shoe' => 3], buyer: 'user:7', order: '4711');
         * $order->confirm();
         * $order->refund(quantity: 1, change: 'return 1');                    // => true
         * $order->refund();                       // => true
         */
        public function refund(bool $restock = true, ?int $quantity = null, ?string $change = null): bool {}

        /**
         * Changes the quantities of the order's products, all or none. The remaining time stays the same.
         *
         * @param array $items New units by SKU, 1 to 999,999,999 each, for all products of the order
         * @throws OutOfStockException too few units are available; the order stays as it was
         * @throws LimitExceededException the buyer would have more than $perBuyer units; the order stays as it was
         * @throws ReservationExpiredException the order has ended, or was cancelled, sold or refunded
         * @throws OrderConflictException the order is for other products
         * @throws ConnectionException the outcome is unknown; repeat the call
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Change:');
         * $stock->restock('shoe', 5, 'delivery 17');
         * $order = $stock->reserve('shoe', buyer: 'user:7', order: '4711');
         * $order->change(['shoe' => 3]);
         * $stock->counts('shoe')['reserved'];     // => 3
         */
        public function change(array $items): void {}
    }

    /**
     * Sets the label of this process in inspect() until the request ends: the number of an order, a job or a user, for
     * example. Locks that are already held or waited for keep their label. Fibers and coroutines share the label:
     * endRequest() removes it only in the main program.
     *
     * @param string|null $label At most 120 bytes of UTF-8, without control characters. null: the label by dlock.label
     * @return string|null the previous label that setLabel() set; null: there was none
     * @throws \ValueError the label is too long, or not UTF-8 without control characters
     *
     * @example
     * $locks = new DistributedLock('redis://127.0.0.1:6379');
     * Dlock\setLabel('order 7');
     * $lease = $locks->acquire('order:7');    // dlock ls shows the label once the lease has been renewed
     */
    function setLabel(?string $label): ?string {}

    /**
     * Helpers for tests of applications (docs/testing-your-app.md).
     *
     * @strict-properties
     * @not-serializable
     */
    final class Testing
    {
        /** @implementation-alias Dlock\Inspection::__construct */
        private function __construct() {}

        /**
         * Advances the clock of this process, as if the machine had been suspended. Leases (even renewed ones),
         * reservations and waits end if their time has passed then. Servers have their own clocks; memory:// uses this
         * one.
         *
         * @param float $seconds 0 to 1,000,000,000
         *
         * @example
         * $lease = (new DistributedLock('memory://'))->acquire('order:7', ttl: 30.0);
         * Dlock\Testing::travel(31);
         * $lease->isHeld();                       // => false
         */
        public static function travel(float $seconds): void {}
    }

    /**
     * Returns the counters of all processes that were forked by the same parent, such as all workers of PHP-FPM, as
     * OpenMetrics text (docs/operations.md).
     */
    function metrics(): string {}

    /**
     * Returns counters of this process since it started. Under ZTS they count this thread. Four count the process:
     * renewals and renewal_failures, and the renewal thread's part of connections and reconnections.
     *
     * - acquisitions: locks that were acquired
     * - waits: acquisition attempts that did not succeed immediately
     * - wait_time: seconds spent in these attempts
     * - timeouts: attempts that timed out, including those with a timeout of 0
     * - guard_waits: attempts that were first refused because of the guard. No lock is granted for some time after a
     *   failover or restart, on a new server, or after a database has lost its leases (docs/fail-over.md)
     * - releases: locks released by a call, not by the end of a variable or of the request
     * - hand_overs_given: releases that handed the lock to a waiter or notified a waiter; not known on ZooKeeper
     * - hand_overs_received: acquisitions that came from such a release
     * - renewals, renewal_failures: leases renewed in the background; renewals without a reply
     * - losses: leases that were lost
     * - connections, reconnections: connections to Redis, memcached and databases that were opened; those that replaced
     *   another one
     * - sessions: sessions on ZooKeeper that were opened
     * - reservations, reservations_refused: calls of Stock::reserve() that returned a reservation; calls that were
     *   refused. Both include repeated calls
     * - sales: orders that confirm() sold in this process
     * - late_sales: those of them that had expired before
     * - expired_refusals: calls of confirm() that were refused
     * - cancellations, refunds: orders cancelled, and refunds made, in this process
     * - stocks_uncertain: how often a reply was the first to report that sales may be missing after a failover
     *
     * @return array{acquisitions: int, waits: int, wait_time: float, timeouts: int, guard_waits: int, releases: int,
     *         hand_overs_given: int, hand_overs_received: int, renewals: int, renewal_failures: int, losses: int, connections: int, reconnections: int,
     *         sessions: int, reservations: int, reservations_refused: int, sales: int, late_sales: int, cancellations: int, refunds: int,
     *         expired_refusals: int, stocks_uncertain: int}
     *
     * @example
     * $before = Dlock\stats();
     * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->acquire('order:7');
     * Dlock\stats()['acquisitions'] - $before['acquisitions'];            // => 1
     */
    function stats(): array {}

    /**
     * Sets a function that calls run instead of sleeping when they have to wait, so that other fibers continue
     * (docs/runtimes.md). It is removed at the end of the PHP request. In a Swoole coroutine, calls yield without it.
     *
     * The waiter receives a stream and a number of seconds (above 0, at most 60). It returns when the stream is
     * readable or the time has passed; returning early is harmless. It may suspend the running fiber, run an event
     * loop, or throw, which cancels the wait. If it returns false, it cannot wait here, and the call sleeps. The stream
     * is valid only during the call, and nothing can be read from it.
     *
     * @param callable|null $waiter fn (resource $stream, float $seconds): mixed. null: calls sleep
     * @return callable|null the previous waiter
     */
    function setWaiter(?callable $waiter): ?callable {}

    /**
     * For workers that serve several requests: what the running fiber, coroutine or main program holds now belongs to
     * the worker, and endRequest() does not release it.
     */
    function beginRequest(): void {}

    /**
     * Releases what the running fiber, coroutine or main program has acquired since beginRequest(), like the end of a
     * PHP request. Locks with $releaseOnShutdown false stay until their leases expire. Lease objects stay, and
     * reservations outlive requests. Waits for replies for at most dlock.shutdown_timeout.
     *
     * @return int number of leases that were held until now
     *
     * @example
     * $locks = new DistributedLock('redis://127.0.0.1:6379');
     * Dlock\beginRequest();
     * $lease = $locks->acquire('order:7');
     * Dlock\endRequest();                     // => 1
     * $lease->isHeld();                       // => false
     */
    function endRequest(): int {}

    /**
     * Returns how DistributedLock and RedLock read the specification of a server. For dlock-doctor; may change in any
     * version.
     *
     * @internal
     * @param string|array $server DistributedLock's $server, or an element of RedLock's $servers
     * @return array{backend: "redis"|"memcached"|"memory"|"pgsql"|"mysql", label: string, host: string|null, port: int, path: string|null, database: int,
     *         user: string|null, password: string|null, connect_timeout: float, read_timeout: float,
     *         tls: array<string, string|bool>|null, discovery: "fixed"|"sentinel"|"cluster"|"hosts", seeds: list<array{host: string, port: int}>,
     *         service: string|null, sentinel: array{tls: array<string, string|bool>|null, user: string|null, password: string|null}|null,
     *         replicas: int, guard: float|null, resync_guard: bool|null} includes the passwords. "tls" has the ssl
     *         context options of PHP's streams. If Sentinels, cluster nodes or hosts lead to the server, "seeds" has them, and "host" is
     *         null. Databases have their own options in the place of "database" and "service"
     */
    function describe_server(#[\SensitiveParameter] string|array $server): array {}

    /**
     * Breaks a lock: ends the holder's lease. For the command dlock, which asks and warns before it does
     * (docs/operations.md), and for forceRelease() of packages/laravel.
     *
     * @internal
     * @param object $locks A LockManager or Semaphore
     * @param string $resource Name of the lock, 1 to 1024 bytes, any bytes
     * @param string $id Party::$id of the holder
     * @param string $by Name of the operator, for inspections
     * @param bool $now true: free the lock before the holder can know of it
     * @return float|null seconds until the lock is free; null: that party is no longer the holder
     * @throws ConnectionException | DlockException the lock was not broken
     */
    function break_lock(object $locks, string $resource, string $id, string $by, bool $now = false): ?float {}

    /**
     * Like LockManager::inspectAll(), but searches all keys instead of the index. For the command dlock; may change in
     * any version.
     *
     * @internal
     * @param object $locks A LockManager or Semaphore
     * @return list<Inspection> at most 1000
     * @throws ConnectionException | DlockException
     */
    function list_all(object $locks): array {}

#ifdef DLOCK_ZOOKEEPER
    /**
     * Returns the members of an ensemble, as ZkLock reads its $servers. For dlock-doctor; may change in any version.
     *
     * @internal
     * @param string|array $servers ZkLock's $servers
     * @return list<array{backend: string, label: string, host: string, port: int}>
     */
    function describe_ensemble(#[\SensitiveParameter] string|array $servers): array {}
#endif

    /** Base of all exceptions of dlock. */
    class DlockException extends \Exception {}
    /** The lock was not free within the timeout. */
    class AcquireTimeoutException extends DlockException {}
    /** The lease has expired, or the lock belongs to another client. */
    class LeaseLostException extends DlockException {}
    /** A server is unreachable or did not answer. The message names it, without passwords. */
    class ConnectionException extends DlockException {}

    /** Too few servers answered. The message has the reason for each server, without passwords. */
    class QuorumException extends ConnectionException
    {
        private array $serverErrors = [];

        /**
         * Returns the reason for each server that did not answer, or cannot vote yet.
         *
         * @return array<string, string> "host:port" (or the socket's path) => reason
         *
         * @example
         * $locks = new RedLock(['redis://127.0.0.1:1', 'redis://127.0.0.1:2', 'redis://127.0.0.1:3']);
         * try {
         *     $locks->acquire('order:7', timeout: 0.0);
         * } catch (Dlock\QuorumException $e) {
         *     $e->getServerErrors()['127.0.0.1:1'];   // => 'Connection refused'
         * }
         */
        public function getServerErrors(): array {}
    }

    /** This process would wait for itself: it already holds the lock. */
    class DeadlockException extends DlockException {}
    /** The buyer would have more units of a product than the limit allows. */
    class LimitExceededException extends DlockException
    {
        /** Name of the product. */
        public readonly string $sku;
        /** The limit: the Stock's $perBuyer. */
        public readonly int $limit;
        /** Units that the buyer already has, reserved and sold. */
        public readonly int $has;
        /** Units that were requested in addition. */
        public readonly int $asked;
    }
    /** The state of the order does not allow the call: it ended or was cancelled, for example. $reason tells why. */
    class ReservationExpiredException extends DlockException
    {
        /** State of the order; null: there is no order of this name, or the name was reserved again. */
        public readonly ?OrderState $state;
        /**
         * "ended", "cancelled", "refunded", "sold", "superseded" (the name was reserved again), "limit" (it ended, and
         * the buyer has too many units by now) or "unknown" (no such order).
         */
        public readonly string $reason;
        /** For how many seconds the order has been in this state; 0.0: unknown. */
        public readonly float $since;
    }
    /** An order of this name exists, with other products, other quantities, or another state. */
    class OrderConflictException extends DlockException {}
    /** Too few units are available. */
    class OutOfStockException extends DlockException {}
    /** The product was never put into stock. */
    class UnknownProductException extends DlockException {}
    /** The sale of this product has ended. */
    class SaleEndedException extends DlockException {}
}
