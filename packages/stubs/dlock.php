<?php

/* Made by scripts/gen-stubs.php from stubs/dlock.stub.php: do not edit. For IDEs and static analysers, not to be loaded with the extension. */

namespace Dlock {

    /**
     * The extension's version.
     *
     * @var string
     */
    const VERSION = '0.1.0';

    /**
     * What DistributedLock, RedLock, ZkLock and both sides of a ReadWriteLock have in common. Use it as the type of a parameter.
     *
     * A resource is 1 to 1024 bytes, any bytes. With its prefix it must not be a key that dlock uses itself on Redis: "dlock:fence",
     * "dlock:era", "dlock:seen", or one that begins with "dlock:queue:", "dlock:waiters:", "dlock:held:", "dlock:fence:", "dlock:era:" or
     * "dlock:seen:".
     */
    interface LockManager
    {
        /**
         * Acquires the lock, waiting if necessary. Waiters do not poll, except on memcached. Signal handlers run during the wait.
         *
         * A list of resources is acquired all at once, or not at all (docs/leases.md): on Redis (also RedLock), ZooKeeper and memory://.
         *
         * @param string|array $resource 1 to 1024 bytes, any bytes; or a list of 1 to 64 of them, in any order
         * @param float|null $timeout longest wait, 0 to a year; null: the manager's, 0: one attempt
         * @param float|null $ttl     lease time, 0.003 s to a year; memcached 4 s to 30 days. null: the manager's, renewed while the holder runs.
         *                            ZkLock: must be null, because the session is the lease
         * @throws AcquireTimeoutException the lock was not free in that time
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException, if too few answer
         * @throws DeadlockException immediately, if this process already holds the lock and renews it without limit (dlock.max_hold 0)
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
         * @param string|array $resource as for acquire()
         * @param float $timeout   longest wait, 0 to a year; 0: one attempt
         * @param float|null $ttl  as for acquire()
         * @throws ConnectionException | DeadlockException | DlockException as acquire()
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
         * Acquires the lock, calls $criticalSection(Lease), releases it and returns the callback's result. A release without an answer is
         * not an error: the lease ends then.
         *
         * @param string|array $resource    as for acquire()
         * @template T
         * @param callable(Lease): T $criticalSection gets the Lease; its exceptions pass through. A generator or promise as result is a \TypeError: it would
         *                                  continue without the lock
         * @param float|null $timeout       as for acquire()
         * @param float|null $ttl           as for acquire()
         * @return T
         * @throws LeaseLostException the lease was lost before the callback ended; an exception of the callback is its previous one
         * @throws AcquireTimeoutException | ConnectionException | DeadlockException | DlockException as acquire(), before the callback
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
         * Attaches a lease that Lease::detach() handed over, in any process, for its remaining time. It is renewed if it was renewed before,
         * unless the manager's $renew says otherwise.
         *
         * A handle works once: the lease gets another token and a larger fencing token, so every copy of the handle is void.
         *
         * @param string $handle what detach() returned; the manager needs the same class, servers and prefix
         * @throws \ValueError the handle was altered or belongs to another kind of lock. ZkLock: always
         * @throws LeaseLostException the handle was already attached, or the lease was released or has expired
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException. The change is undone as far as servers can be reached:
         *         try the handle again
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
         * @param string $resource 1 to 1024 bytes, any bytes
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException
         */
        public function isLocked(string $resource): bool;

        /**
         * Returns who holds the lock and who waits for it, at one moment and without disturbing them. For people and monitors: the
         * answer may be outdated when it arrives (docs/operations.md).
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param int $waiters     how many waiters to describe, from the first on: 0 to 1000
         * @throws ConnectionException a server is unreachable, or has something else under this name; RedLock: QuorumException
         * @throws DlockException on PostgreSQL
         *
         * @example
         * $locks = new DistributedLock('redis://127.0.0.1:6379');
         * $lease = $locks->acquire('report');
         * $locks->inspect('report')->holders[0]->pid === getmypid();          // => true
         * $locks->inspect('report')->waiting;     // => 0
         */
        public function inspect(string $resource, int $waiters = 100): Inspection;

        /**
         * Returns locks that are waited for, or have been held for longer than a third of their lease time, the longest held first. It reads
         * an index, not all keys. On ZooKeeper, in a database and on memory://: all that are held.
         *
         * @param int $limit 1 to 1000
         * @return list<Inspection> with one waiter in detail at most
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

    /** Who held a lock, and who waited for it, at one moment (LockManager::inspect()). */
    final class Inspection
    {
        /** As given to inspect(). */
        public readonly string $resource;
        /** That moment, a Unix time by the server's clock. */
        public readonly float $at;
        /** A list of Party. A lock has none or one. */
        public readonly array $holders;
        /** A list of Party, in the order in which they will be served, if that is known. */
        public readonly array $waiters;
        /** How many wait in all. */
        public readonly int $waiting;
        /** RedLock: by "host:port", what the server has: "held", "other" (held by another client), "free", or the reason why it is unknown. */
        public readonly array $servers;

        private function __construct() {}
    }

    /** A holder or a waiter in an Inspection. */
    final class Party
    {
        /** Identifies it. Not its token: nothing can be released with it. "" if it has no name. */
        public readonly string $id;
        /** Host name, or its IPv4 address until the name is known; "" for other programs. */
        public readonly string $host;
        /** 0: unknown. */
        public readonly int $pid;
        /** The label of the process, see setLabel(); null: not known yet. */
        public readonly ?string $label;
        /** "lock", "read", "write" or "permits". */
        public readonly string $mode;
        /** As Lease::$permits. */
        public readonly int $permits;
        /** When it requested the lock, a Unix time by its host's clock; null: unknown. */
        public readonly ?float $askedAt;
        /** When it acquired the lock, likewise; null: it waits, or that is not known yet. */
        public readonly ?float $heldSince;
        /** Remaining seconds of its lease by the server's clock; null: it waits, or the session is the lease. */
        public readonly ?float $remaining;
        /** The fencing token of its lease; null: it waits, or that is not known yet. */
        public readonly ?int $fencingToken;

        private function __construct() {}
    }

    /**
     * What a holder knows of its lease, without asking a server (docs/leases.md).
     *
     * @example
     * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->acquire('report');
     * $lease->state();                        // => Dlock\LeaseState::Held
     * $lease->release();
     * $lease->state();                        // => Dlock\LeaseState::Released
     */
    enum LeaseState
    {
        /** The deadline is ahead. */
        case Held;
        /** The deadline is ahead, but the last request for more time has no reply. */
        case Uncertain;
        /** The deadline has passed, or a server reported that the lock no longer belongs to this lease. Final. */
        case Lost;
        /** Released, or handed over by detach(). */
        case Released;
    }

    /**
     * One acquisition. Released when its last variable goes out of scope, unless detached.
     *
     * The deadline counts from the moment before the last acknowledged request was sent, less 1 % and 2 ms, on a clock that continues during
     * suspend. It is never later than the server's (docs/leases.md).
     *
     * @example
     * $lease = (new DistributedLock('redis://127.0.0.1:6379'))->acquire('report', ttl: 60.0);
     * write_report();
     * $lease->assertHeld();               // throws if the lease was lost
     * $lease->release();                  // => true
     */
    final class Lease
    {
        /** As given to acquire(); of several, their names, joined by ", ". */
        public readonly string $resource;
        /** The names of what is locked: one, or several in the order of their bytes, each once. */
        public readonly array $resources;
        /** Owner token: host, pid, time, and 80 random bits. Not shown by dumps, traces and json_encode(), but by foreach and get_object_vars(). */
        public readonly string $token;
        /**
         * Larger than that of each earlier holder of any of them; numbers may be skipped. For stores that reject a late write:
         * https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
         */
        public readonly int $fencingToken;
        /** Of a Semaphore, the permits that were acquired; otherwise 1. */
        public readonly int $permits;

        private function __construct() {}

        /** The state of the lease. No I/O. */
        public function state(): LeaseState {}

        /** Returns whether state() is Held or Uncertain. No I/O. */
        public function isHeld(): bool {}

        /**
         * Seconds for which the holder may still rely on the lock; 0.0 if lost. No I/O. After a wait on one Redis it is at most 3 s at first: the
         * renewal thread requests the full lease time about a second later.
         */
        public function remaining(): float {}

        /**
         * Throws if the lease is no longer held. Call it right before a write. No I/O.
         *
         * @throws LeaseLostException isHeld() is false
         */
        public function assertHeld(): void {}

        /**
         * Sets the lease time to $ttl seconds from now. Later renewals use the same time.
         *
         * @param float|null $ttl 0.003 s to a year; null: as before. ZkLock: must be null, and nothing is sent
         * @throws LeaseLostException the lease has expired or was lost
         * @throws ConnectionException a server is unreachable; RedLock: QuorumException. The lease continues with the shorter of both times
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
         * Releases the lock. The lease has ended afterwards, whatever the server answers.
         *
         * @return bool true: released by this call; false: already lost or released
         * @throws ConnectionException the outcome is unknown; RedLock: QuorumException. The lock ends with its lease. Catch this if it follows
         *         finished work, or use LockManager::synchronized()
         */
        public function release(): bool {}

        /**
         * Stops renewal and automatic release, and returns a handle for LockManager::attach(), which works once. The lease keeps its remaining time:
         * choose a lease time that covers the way to the next process. Who has the handle has the lock. The handle contains no password and is not
         * signed: sign it if it passes through untrusted hands. Not for ZkLock, whose session cannot move.
         *
         * @throws LeaseLostException the lease has already ended
         * @throws ConnectionException after a wait on one Redis, if the server does not answer: the lease is still held
         * @throws DlockException the lease is of ZkLock, or has names in several hash slots of a cluster
         */
        public function detach(): string {}

        /**
         * A reader of a ReadWriteLock becomes the writer. No other client has written meanwhile. $fencingToken is a larger one afterwards.
         *
         * While it waits for the other readers, new ones wait, and it is before all writers. Not on ZooKeeper.
         *
         * @param float|null $timeout longest wait for the other readers, 0 to a year; null: the lock's, 0: one attempt
         * @throws AcquireTimeoutException others still read, or nothing is granted after a failover; the lease is a reader's as before
         * @throws DeadlockException immediately, if another reader waits for the same: release, and acquire for writing
         * @throws LeaseLostException the lease has ended
         * @throws ConnectionException the outcome is unknown: call it again, or downgrade()
         * @throws DlockException the server has no such change
         */
        public function upgrade(?float $timeout = null): void {}

        /**
         * The writer of a ReadWriteLock becomes a reader, together with the readers that wait; no writer comes in between. A reader stays one.
         *
         * @throws LeaseLostException the lease has ended
         * @throws ConnectionException the outcome is unknown: others may read, and upgrade() is refused from then on. It may be called again
         * @throws DlockException the server has no such change
         */
        public function downgrade(): void {}
    }

    /** The methods of Semaphore, as a type for parameters and test doubles. */
    interface SemaphoreInterface
    {
        /**
         * Acquires the permits, waiting if necessary. Waiters do not poll. Signal handlers run during the wait.
         *
         * @param string $resource    1 to 1024 bytes, any bytes
         * @param int $permits        1 to the capacity; acquired and released together
         * @param float|null $timeout longest wait, 0 to a year; null: the semaphore's, 0: one attempt
         * @param float|null $ttl     lease time, 0.003 s to a year; null: the semaphore's, renewed while the holder runs. ZooKeeper: must be null
         * @return Lease with these permits; its fencing token is larger than that of every earlier holder of the resource
         * @throws AcquireTimeoutException too few permits were free in that time
         * @throws ConnectionException the server is unreachable
         * @throws DeadlockException immediately, if this process holds too many permits, renewed without limit (dlock.max_hold 0)
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
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param int $permits     1 to the capacity
         * @param float $timeout   longest wait, 0 to a year; 0: one attempt
         * @param float|null $ttl  as for acquire()
         * @throws ConnectionException | DeadlockException | DlockException as acquire()
         */
        #[\NoDiscard]
        public function tryAcquire(string $resource, int $permits = 1, float $timeout = 0.0, ?float $ttl = null): ?Lease;

        /**
         * Acquires the permits, calls $criticalSection(Lease), releases them and returns the callback's result. A release without an answer is
         * not an error: the lease ends then.
         *
         * @param string $resource          1 to 1024 bytes, any bytes
         * @template T
         * @param callable(Lease): T $criticalSection gets the Lease; its exceptions pass through. A generator or promise as result is a \TypeError: it would
         *                                  continue without the lock
         * @param int $permits              1 to the capacity
         * @param float|null $timeout       as for acquire()
         * @param float|null $ttl           as for acquire()
         * @return T
         * @throws LeaseLostException the lease was lost before the callback ended; an exception of the callback is its previous one
         * @throws AcquireTimeoutException | ConnectionException | DeadlockException | DlockException as acquire(), before the callback
         */
        public function synchronized(string $resource, callable $criticalSection, int $permits = 1, ?float $timeout = null, ?float $ttl = null): mixed;

        /**
         * Attaches a lease that Lease::detach() handed over, as LockManager::attach().
         *
         * @param string $handle what detach() returned; the semaphore needs the same server and prefix
         * @throws \ValueError the handle was altered or belongs to another kind of lock
         * @throws LeaseLostException the handle was already attached, or the lease was released or has expired
         * @throws ConnectionException the server is unreachable
         */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease;

        /**
         * Permits that are free now; 0 if more are held than this semaphore's capacity. Waiters may be ahead.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @throws ConnectionException the server is unreachable
         */
        public function availablePermits(string $resource): int;

        /**
         * As LockManager::inspect(): who holds permits, and who waits for some.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param int $waiters     how many waiters of each to describe, from the first on: 0 to 1000
         * @throws ConnectionException the server is unreachable
         */
        public function inspect(string $resource, int $waiters = 100): Inspection;

        /**
         * As LockManager::inspectAll().
         *
         * @param int $limit 1 to 1000
         * @return list<Inspection> as LockManager::inspectAll()
         * @throws ConnectionException the server is unreachable
         */
        public function inspectAll(int $limit = 100): array;
    }

    /**
     * Counting semaphores on Redis 6.2 or later, ZooKeeper or memory://: at most $capacity permits of a resource are held at a time. Permits are granted in
     * the order of the requests: smaller requests do not overtake a large one. The permits of a crashed holder are free when its lease expires.
     *
     * @example
     * $exports = new Dlock\Semaphore(4, 'redis://127.0.0.1:6379');
     * $exports->synchronized('pdf', fn () => write_report(), permits: 2, timeout: 10.0);
     */
    final class Semaphore implements SemaphoreInterface
    {
        /**
         * Does not connect.
         *
         * @param int $capacity permits of each resource, 1 to 999,999,999. Not stored: each request waits until its permits and those in use are at most
         *                      this many
         * @param string|array|null $server Redis or memory://, as for DistributedLock, or ZooKeeper: "zookeeper://h1:2181,h2:2181/root?session_timeout=10". null: dlock.server
         * @param string $prefix the key of a resource is $prefix . $resource
         * @param float|null $ttl default lease time, 0.003 s to a year; at most the guard if replicas acknowledge. null: dlock.ttl. ZooKeeper: must be null
         * @param float|null $timeout longest wait of acquire() and synchronized(), 0 to a year; null: dlock.timeout
         * @param bool|null $renew true: renew all leases; false: none; null: those acquired without a lease time. ZooKeeper: must be null
         * @param string $onLoss "flag": Lease::isHeld() turns false. "throw": LeaseLostException in the running code as well
         * @param bool|null $releaseOnShutdown release at the end of the request what it still holds; null: dlock.release_on_shutdown
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
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease {}
        public function availablePermits(string $resource): int {}
        public function inspect(string $resource, int $waiters = 100): Inspection {}
        public function inspectAll(int $limit = 100): array {}
    }

    /** The methods of ReadWriteLock, as a type for parameters and test doubles. */
    interface ReadWriteLockInterface
    {
        /** The lock for readers: many hold it at a time. A reader that wants to write: Lease::upgrade(). */
        public function readLock(): LockManager;

        /**
         * The lock for writers: one holds it, and no reader.
         *
         * @example
         * $prices = new Dlock\ReadWriteLock('redis://127.0.0.1:6379');
         * $prices->writeLock()->synchronized('stock:43', fn (Dlock\Lease $lease) => write_stock(43, 5, $lease->fencingToken));
         */
        public function writeLock(): LockManager;
    }

    /**
     * Read/write locks on Redis 6.2 or later, ZooKeeper or memory://: a resource has any number of readers, or one writer.
     *
     * On Redis they are phase-fair: after a writer all waiting readers are granted, after readers the first writer (Brandenburg and Anderson,
     * "Reader-Writer Synchronization for Shared-Memory Multiprocessor Real-Time Systems", 2009). Neither side starves, and a reader waits for
     * one writer at most. On ZooKeeper, all are served in the order of their requests.
     *
     * @example
     * $prices = new Dlock\ReadWriteLock('redis://127.0.0.1:6379');
     * $prices->readLock()->synchronized('stock:42', fn () => read_stock(42));    // => 3
     */
    final class ReadWriteLock implements ReadWriteLockInterface
    {
        /**
         * Does not connect.
         *
         * @param string|array|null $server Redis or memory://, as for DistributedLock, or ZooKeeper: "zookeeper://h1:2181,h2:2181/root?session_timeout=10". null: dlock.server
         * @param string $prefix the key of a resource is $prefix . $resource
         * @param float|null $ttl default lease time, 0.003 s to a year; at most the guard if replicas acknowledge. null: dlock.ttl. ZooKeeper: must be null
         * @param float|null $timeout longest wait of acquire() and synchronized(), 0 to a year; null: dlock.timeout
         * @param bool|null $renew true: renew all leases; false: none; null: those acquired without a lease time. ZooKeeper: must be null
         * @param string $onLoss "flag": Lease::isHeld() turns false. "throw": LeaseLostException in the running code as well
         * @param bool|null $releaseOnShutdown release at the end of the request what it still holds; null: dlock.release_on_shutdown
         * @param string $fairness "phase", or "fifo": in the order of the requests, for many writers and few readers. The same for all that share a lock.
         *                      ZooKeeper: always "fifo"
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
     * What ReadWriteLock::readLock() and writeLock() return. Use LockManager as the type. isLocked() of either side returns whether anyone reads or
     * writes. A handle of one side cannot be attached by the other.
     */
    final class ReadWriteLockSide implements LockManager
    {
        private function __construct() {}

        #[\NoDiscard]
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): Lease {}
        #[\NoDiscard]
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease {}
        public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease {}
        public function isLocked(string $resource): bool {}
        public function inspect(string $resource, int $waiters = 100): \Dlock\Inspection {}
        public function inspectAll(int $limit = 100): array {}
    }

    /** How an order stands. */
    enum OrderState: string
    {
        /** Its units are reserved, for a time. */
        case Reserved = "reserved";
        /** Its time ended before it was confirmed: it holds nothing, and can still be confirmed while units are available. */
        case Ended = "ended";
        /** It is sold. */
        case Sold = "sold";
        /** It holds nothing and cannot be confirmed. */
        case Cancelled = "cancelled";
        /** It was sold, and the sale was refunded. */
        case Refunded = "refunded";
    }

    /** How an order stood when the server was asked (Stock::order(), Stock::orders()). */
    final class Order
    {
        /** How it stood. */
        public readonly OrderState $state;
        /** Units by SKU, of type int; in a list of one product's orders only that product. */
        public readonly array $items;
        /** As given to Stock::reserve(). */
        public readonly string $buyer;
        /** The order's name, as given to Stock::reserve(). */
        public readonly string $order;
        /** Since when it is in this state, a Unix time by the server's clock; of a reservation: when it ends. */
        public readonly float $at;
        /** Seconds left of a reservation; null in any other state. */
        public readonly ?float $remaining;

        private function __construct() {}
    }

    /** A page of a product's orders; can be iterated with foreach.
     * @implements \IteratorAggregate<int, Order>
     */
    final class OrderPage implements \IteratorAggregate
    {
        /** A list of Order. */
        public readonly array $orders;
        /** For the $after of the next call; null: there are no more. */
        public readonly ?string $next;

        private function __construct() {}

        /** Iterates over $orders. */
        public function getIterator(): \Iterator {}
    }

    /** The methods of Stock, as a type for parameters and test doubles. */
    interface Inventory
    {
        /**
         * Adds units, or removes units that are neither reserved nor sold.
         *
         * @param string $sku         the product's name
         * @param int $quantity       1 to 999999999, the most that a stock has: more are not put in. Less than 0: out, as many of them as there are
         * @param string|null $change a name for this change: it is made once, however often it is asked for, and its name is kept. null: each call
         *                            is one
         * @return int by how many units the stock changed; of a change that was made before, by how many then
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
         * Reserves all of the items, or nothing. Repeated with the same $buyer and $order, it returns the same reservation. The name of an order
         * that ended or was cancelled can be reserved anew; earlier Reservation objects do not act on the new one.
         *
         * @param string|array $items one unit of this SKU; or units by SKU, 1 to 999999999 each, of up to 16 products. On a cluster
         *                            several must share a hash slot, by a common part in braces
         * @param string $buyer       whom $perBuyer counts for
         * @param string $order       the order's name, such as its number: by this name it is found again
         * @param float $timeout      seconds to wait for units that others have reserved, 0 to a year. Null at once
         *                            while no buyer has any reserved, or if fewer than that are not sold
         * @param float|null $ttl     seconds for which it lasts, 0.003 to a year; null: the object's
         * @param bool $strict        throw UnknownProductException for a product that was never put in, instead of returning null
         * @return Reservation|null null: not enough; sold out, all reserved, the sale is closed, or the order was cancelled while it waited. What it
         *                          had bought before is a Reservation, too
         * @throws LimitExceededException when the buyer would have more than $perBuyer
         * @throws OrderConflictException when there is an order of this name for other products or quantities
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
         * A reservation that any process made; nothing is asked yet. It acts on the last order of this name.
         *
         * @param string|array $items as given to reserve(); quantities do not matter
         * @param string $buyer as given to reserve()
         * @param string $order as given to reserve()
         *
         * @example
         * $stock = new Dlock\Stock('redis://127.0.0.1:6379', 'Webhook:');
         * $stock->restock('shoe', 2, 'delivery 17');
         * $stock->reserve('shoe', buyer: 'user:7', order: '4711');            // in a request
         * $stock->reservation('shoe', 'user:7', '4711')->confirm();           // => true
         */
        public function reservation(string|array $items, string $buyer, string $order): Reservation;

        /**
         * How an order stands. Changes nothing.
         *
         * @param string|array $items as given to reserve(); quantities do not matter
         * @param string $buyer as given to reserve()
         * @param string $order as given to reserve()
         * @return Order|null null: there is no such order of these products, or it is forgotten
         * @throws ConnectionException the server is unreachable
         */
        public function order(string|array $items, string $buyer, string $order): ?Order;

        /**
         * Orders of a product, a page at a time: those of one state in the order in which they came to it. Changes nothing. For reports and comparisons, not
         * for a page that buyers load: with $buyer, all orders are looked at.
         *
         * @param string $sku             the product's name
         * @param string|null $buyer      only this buyer's; null: all
         * @param OrderState|null $state  only those in this state; null: all
         * @param float $since            only those that came to $state then or later, a Unix time; reservations: that end then or later. Needs $state
         * @param int $limit              1 to 1000 orders; there may be fewer on a page, even none, before the last
         * @param string|null $after      the last page's $next; null: the first page
         * @throws \ValueError for an $after that no page gave, or a $since without $state
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
         * The units of a product at one moment. Available + reserved + sold are the units that were put in.
         *
         * @param string|array $sku the product's name; or a list of names, of up to 16: of one moment for those that share a hash slot
         * @param bool $confirmed   with replicas: they have what is counted
         * @return array{state: string, available: int, reserved: int, sold: int, waiting: int, uncertain: ?float} state: "unknown", "open",
         *         "closed" or "ended"; the others are units; of waiting, requests: also those whose process died, until it is their turn;
         *         uncertain: as Reservation's $uncertain. Of a list: such an array by SKU
         * @throws ConnectionException the server is unreachable
         */
        public function counts(string|array $sku, bool $confirmed = false): array;

        /**
         * Opens a sale that was closed.
         *
         * @param string $sku the product's name
         * @throws UnknownProductException for a product that was never put in
         * @throws SaleEndedException when it has ended
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function open(string $sku): void;

        /**
         * Closes a sale until it is opened again: reserve() returns null, and those that wait are told. Reservations can be confirmed, also late.
         *
         * @param string $sku the product's name
         * @throws UnknownProductException for a product that was never put in
         * @throws SaleEndedException when it has ended
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function close(string $sku): void;

        /**
         * Closes a sale for good. Reservations can be confirmed until their time ends.
         *
         * @param string $sku the product's name
         * @throws UnknownProductException for a product that was never put in
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
     * Stocks of products on Redis (6.2 or later): units are reserved for a time, then sold, or available again. Never oversold; exact at every moment.
     * No lock is needed: each call is one script on the server. docs/stock.md shows a whole sale.
     *
     * A product's key is exactly $prefix . $sku, and stays until it is deleted: it knows each order that was sold. SKUs and the names of buyers, orders
     * and changes are 1 to 255 bytes, any bytes; a SKU as LockManager's resources. What is asked for by name counts once, however often it is
     * sent: after a ConnectionException, ask again.
     *
     * @example
     * $stock = new Dlock\Stock('redis://127.0.0.1:6379', perBuyer: 2);
     * $stock->restock('shoe', 1000, 'spring sale');
     * $reservation = $stock->reserve('shoe', buyer: 'user:7', order: 'order:4711', ttl: 300.0);    // null: sold out, or all reserved
     */
    final class Stock implements Inventory
    {
        /**
         * Does not connect.
         *
         * @param string|array|null $server Redis, with or without failover, as for DistributedLock, or memory://. With replicas, an answer is on that
         *                             many of them (docs/fail-over.md). null: dlock.server
         * @param string $prefix       the product's key is exactly $prefix . $sku
         * @param float $ttl           seconds for which a reservation lasts without an explicit time, 0.003 to a year
         * @param int|null $perBuyer   the most units of one product that one buyer may have reserved and bought in all, 1 to 999999999; null:
         *                             any number. It goes with each request and is stored nowhere
         * @param string $fairness     of those that wait. "fit": units go to the first waiter that they are enough for. "fifo": no later request
         *                             passes one made with this object, so units may stay unsold while it waits for more
         * @param float $remember      seconds for which orders are remembered that ended or were cancelled, 1 to a year. It is stored by restock()
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
     * Units that are reserved for a buyer. Outlives the process that made it: nothing is cancelled when the object goes. It may be used by any process, as
     * Stock::reservation().
     *
     * @example
     * $stock = new Dlock\Stock('redis://127.0.0.1:6379');
     * $stock->restock('mug', 10, 'first batch');
     * $reservation = $stock->reserve(['mug' => 2], buyer: 'user:7', order: 'order:4712');
     * $reservation->confirm();            // => true
     */
    final class Reservation
    {
        /** Units by SKU, of type int. */
        public readonly array $items;
        /** As it was given to Stock::reserve(). */
        public readonly string $buyer;
        /** The order's name, as it was given to Stock::reserve(). */
        public readonly string $order;
        /** Greater than that of every earlier answer of reserve() for these products; 0 if it came from Stock::reservation(). */
        public readonly int $fencingToken;
        /** A Unix time until which sales may be missing after a failover, as the last answer of its server said (docs/fail-over.md). null: none are. */
        public readonly ?float $uncertain;

        private function __construct() {}

        /**
         * Seconds for which no other buyer can get the units, as far as this object knows: 0.0 before its first request, INF if they are sold to the buyer.
         * Counted as a lease's. No I/O.
         */
        public function remaining(): float {}

        /**
         * How the order stands now. Changes nothing.
         *
         * @return OrderState|null null: there is no such order, or it is forgotten
         * @throws ConnectionException the server is unreachable
         */
        public function status(): ?OrderState {}

        /**
         * Extends the reservation to at least $ttl seconds from now. Never shortens it.
         *
         * @param float|null $ttl seconds, 0.003 to a year; null: as it was reserved for, or the Stock's
         * @throws ReservationExpiredException when it has ended, was cancelled or sold
         * @throws OrderConflictException when the order is for other products
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function extend(?float $ttl = null): void {}

        /**
         * Buys: the units are sold. May be repeated. After its time has ended it still succeeds while as many units are available, and $perBuyer allows
         * it; it goes before those that wait.
         *
         * @return bool true: bought by this call; false: it was before
         * @throws ReservationExpiredException when it has ended and too few units are available, or it was cancelled: nothing is bought. After a
         *         ConnectionException, call cancel() before you refund the payment: the attempt without a reply may still reach the server
         * @throws OrderConflictException when the order is for other products: no part of an order is bought
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
         * Makes the units available again, for the first waiter that they are enough for; or withdraws a request that waits. A payment that comes later
         * is refused.
         *
         * @return bool false: nothing was reserved, or the units are already sold (a sale is not undone)
         * @throws OrderConflictException when the order is for other products
         * @throws ConnectionException the outcome is unknown; repeat the call
         */
        public function cancel(): bool {}

        /**
         * Refunds a sale, or a part of it.
         *
         * @param bool $restock      the units are for sale again; false: they leave the stock
         * @param int|null $quantity units of an order of one product; null: all of the order
         * @param string|null $change the name of the refund of a part, which is made once; needed with $quantity
         * @return bool true: by this call; false: it was before
         * @throws ReservationExpiredException when there is no such order, or this one was superseded
         * @throws OrderConflictException when it is not sold, is for other products, or has fewer units
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
         * Changes the quantities of the same products, all or nothing. The remaining time stays.
         *
         * @param array $items units by SKU, 1 to 999999999 each
         * @throws OutOfStockException when too few units are available: it stays as it was
         * @throws LimitExceededException when the buyer would have more than $perBuyer: it stays as it was
         * @throws ReservationExpiredException when it has ended, was cancelled or sold
         * @throws OrderConflictException when the order is for other products
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
     * Sets the label of this process in inspect() until the request ends: an order, a job, a user's number. Locks that are already held or
     * waited for keep the label that they were requested with.
     *
     * @param string|null $label at most 120 bytes of UTF-8, without control characters; null: back to INI dlock.label
     * @return string|null the one before that was set in this way; null: there was none
     * @throws \ValueError the label is too long or not such text
     *
     * @example
     * $locks = new DistributedLock('redis://127.0.0.1:6379');
     * Dlock\setLabel('order 7');
     * $lease = $locks->acquire('order:7');    // dlock ls shows the label once the lease has been renewed
     */
    function setLabel(?string $label): ?string {}

    /**
     * For tests of applications (docs/testing-your-app.md).
     */
    final class Testing
    {
        private function __construct() {}

        /**
         * Advances the clock of this process, as if the machine had been suspended. Leases (renewed ones, too), reservations and waits whose time
         * is over then have ended. Servers have their own clocks; memory:// uses this one.
         *
         * @param float $seconds 0 to 1000000000
         *
         * @example
         * $lease = (new DistributedLock('memory://'))->acquire('order:7', ttl: 30.0);
         * Dlock\Testing::travel(31);
         * $lease->isHeld();                       // => false
         */
        public static function travel(float $seconds): void {}
    }

    /**
     * Returns counters of all processes that were forked by the same parent, such as all workers of PHP-FPM, as OpenMetrics text
     * (docs/operations.md).
     */
    function metrics(): string {}

    /**
     * Counters of this process since it started; under ZTS of this thread, except renewals, renewal_failures and the renewal thread's
     * part of connections and reconnections, which are the process'.
     *
     * - acquisitions: locks that were acquired
     * - waits: acquisition attempts that did not succeed immediately
     * - wait_time: seconds spent in these attempts
     * - timeouts: attempts that timed out, including those with a timeout of 0
     * - guard_waits: attempts that were refused at first because of the guard, or a database's lost leases: nothing is granted for some time
     *   after a failover, a restart, or on a new server (docs/fail-over.md)
     * - releases: locks released by a call, not by the end of a variable or of the request
     * - hand_overs_given: releases that handed the lock to a waiter or notified one; not known on ZooKeeper
     * - hand_overs_received: acquisitions that came from such a release
     * - renewals, renewal_failures: leases renewed in the background; renewals without an answer
     * - losses: leases that were lost
     * - connections, reconnections: connections to Redis and memcached that were opened; those that replaced another one
     * - sessions: sessions on ZooKeeper that were opened
     * - reservations, reservations_refused: answers of Stock::reserve(), repeated ones as well
     * - sales: orders sold by a confirm() of this process; late_sales: those that had expired before; expired_refusals: refused calls of confirm()
     * - cancellations, refunds: by a call of this process
     * - stocks_uncertain: how often an answer said for the first time that sales may be missing since a failover
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
     * Until the end of the PHP request, a call that has to wait calls $waiter instead of sleeping, so that other fibers continue
     * (docs/runtimes.md). In a Swoole coroutine a call yields without it.
     *
     * The waiter gets a stream and seconds (more than 0, at most 60), and returns when the stream is readable or the time is over.
     * It may suspend the running fiber, run an event loop, or throw, which cancels the wait. Returning early is harmless. If it
     * returns false, it cannot wait here, and the call sleeps. The stream is valid during the call alone, and nothing can be read
     * from it.
     *
     * @param callable|null $waiter fn (resource $stream, float $seconds): mixed; null: calls sleep
     * @return callable|null the one before
     */
    function setWaiter(?callable $waiter): ?callable {}

    /**
     * For workers that serve several requests: what the running fiber or coroutine, or {main}, holds now belongs to the worker, and
     * endRequest() does not release it.
     */
    function beginRequest(): void {}

    /**
     * Releases what the running fiber or coroutine, or {main}, has acquired since beginRequest(), as the end of a PHP request does: locks
     * with $releaseOnShutdown false stay until their lease expires. Objects stay. Waits at most dlock.shutdown_timeout for the
     * replies. Reservations outlive requests.
     *
     * @return int leases that were held until now
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
     * What a specification of a server says, as DistributedLock and RedLock read it. For dlock-doctor; may change in any version.
     *
     * @internal
     * @param string|array $server  DistributedLock's $server, or an element of RedLock's $servers
     * @return array{backend: "redis"|"memcached"|"memory", label: string, host: string|null, port: int, path: string|null, database: int,
     *         user: string|null, password: string|null, connect_timeout: float, read_timeout: float,
     *         tls: array<string, string|bool>|null, discovery: "fixed"|"sentinel"|"cluster", seeds: list<array{host: string, port: int}>,
     *         service: string|null, sentinel: array{tls: array<string, string|bool>|null, user: string|null, password: string|null}|null,
     *         replicas: int, guard: float|null, resync_guard: bool|null} passwords as they are; of TLS the ssl context options of PHP's streams. Where a service is
     *         found by Sentinels or nodes, these are the seeds, and there is no host
     */
    function describe_server(#[\SensitiveParameter] string|array $server): array {}

    /**
     * Takes a lock from its holder: for the command dlock, which has the questions and warnings around it (docs/operations.md).
     *
     * @internal
     * @param object $locks    a LockManager or Semaphore
     * @param string $resource 1 to 1024 bytes, any bytes
     * @param string $id       the holder's Party::$id
     * @param string $by       who does it, for those who look
     * @param bool $now        give it on before the holder can know
     * @return float|null seconds until it is free; null: that is not the holder any more
     * @throws ConnectionException | DlockException when it could not be done
     */
    function break_lock(object $locks, string $resource, string $id, string $by, bool $now = false): ?float {}

    /**
     * As LockManager::inspectAll(), without the index: it looks at all keys. For the command dlock; may change in any version.
     *
     * @internal
     * @param object $locks a LockManager or Semaphore
     * @return list<Inspection> up to 1000
     * @throws ConnectionException | DlockException
     */
    function list_all(object $locks): array {}

    /**
     * The members of an ensemble, as ZkLock reads its $servers. For dlock-doctor; may change in any version.
     *
     * @internal
     * @param string|array $servers  ZkLock's $servers
     * @return list<array{backend: string, label: string, host: string, port: int}>
     */
    function describe_ensemble(#[\SensitiveParameter] string|array $servers): array {}

    /** The base of all exceptions of dlock. */
    class DlockException extends \Exception {}
    /** The lock was not free within the timeout. */
    class AcquireTimeoutException extends DlockException {}
    /** The lease has expired, or the lock belongs to another client. */
    class LeaseLostException extends DlockException {}
    /** A server is unreachable or did not answer. The message names it, without passwords. */
    class ConnectionException extends DlockException {}

    /** Too few servers answered. The message has the reason of each, without passwords. */
    class QuorumException extends ConnectionException
    {
        private array $serverErrors = [];

        /**
         * The reason of each server that did not answer, or cannot vote yet.
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

    /** This process already holds the lock that it is about to wait for. */
    class DeadlockException extends DlockException {}
    /** The buyer would have more units of a product than it may. */
    class LimitExceededException extends DlockException
    {
        /** The product. */
        public readonly string $sku;
        /** Stock's $perBuyer. */
        public readonly int $limit;
        /** Units that the buyer has, reserved and bought. */
        public readonly int $has;
        /** Units that were asked for. */
        public readonly int $asked;
    }
    /** The reservation has ended, or was cancelled: the order cannot be bought, extended or changed. */
    class ReservationExpiredException extends DlockException
    {
        /** How the order stands; null: there is none of this name. */
        public readonly ?OrderState $state;
        /** "ended", "cancelled", "refunded", "sold", "superseded" (the name was reserved anew), "limit" (the buyer has too many meanwhile) or "unknown". */
        public readonly string $reason;
        /** For how many seconds it is so; 0.0 if that is not known. */
        public readonly float $since;
    }
    /** There is an order of this name, and it is another one: of other products or quantities, or in another state. */
    class OrderConflictException extends DlockException {}
    /** Too few units are available. */
    class OutOfStockException extends DlockException {}
    /** Nothing was ever put into the stock of this product. */
    class UnknownProductException extends DlockException {}
    /** The sale of this product has ended. */
    class SaleEndedException extends DlockException {}
}

namespace {

    /**
     * Locks on one Redis server, on Redis with failover (Sentinel, Cluster, or an endpoint whose replicas acknowledge), in PostgreSQL, MySQL
     * or MariaDB, on one memcached server, or in this process (memory://, for tests).
     *
     * On Redis, the key $prefix . $resource is set with SET NX PX and a random token, and deleted only by a script that compares the token. A
     * contended lock is handed to the waiter that came first (docs/hand-over.md).
     *
     * lock() to isLocking() are the methods of common PHP lock classes; all others are those of Dlock\LockManager. A lock that was acquired with
     * lock() is released with release(), one that was acquired with acquire() by its Lease.
     *
     * @example
     * $locks = new DistributedLock('redis://127.0.0.1:6379', prefix: 'shop:', timeout: 2.0);
     * $locks->synchronized('order:7', fn (Dlock\Lease $lease) => ship(7));
     */
    class DistributedLock implements \Dlock\LockManager
    {
        /**
         * Does not connect. The first call that needs the server does.
         *
         * @param string|array|null $server  DSN or array (docs/operations.md); null: dlock.server
         * @param string $prefix             the key of a resource is $prefix . $resource
         * @param float|null $ttl            default lease time, 0.003 s to a year; memcached 4 s to 30 days; at most the guard if replicas acknowledge.
         *                                   null: dlock.ttl
         * @param float|null $timeout        longest wait of acquire() and synchronized(), 0 to a year; null: dlock.timeout. Not of lock()
         * @param bool|null $renew           true: renew all leases; false: none; null: those acquired without a lease time
         * @param string $onLoss             "flag": Lease::isHeld() turns false. "throw": LeaseLostException in the running code as well
         * @param bool|null $releaseOnShutdown release at the end of the request what it still holds; null: dlock.release_on_shutdown. false: it stays until its lease expires
         * @param bool $legacy               share locks with hosts that run SETNX timestamp code (docs/legacy.md). One Redis without replicas only
         * @param bool $reentrant            a strand that has the lock by such an object acquires it once more at once (docs/leases.md)
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
         * Acquires the lock for this object; once more only with $reentrant: then release() is called as often.
         *
         * @param string $key             1 to 1024 bytes, any bytes
         * @param int|float|null $timeout longest wait, up to a year; null: no limit, 0: one attempt
         * @param int|float|null $expire  lease time, 0.003 s to a year; null: the object's $ttl, renewed while the request runs
         * @return bool true: acquired; false: timeout
         * @throws \Dlock\ConnectionException the server is unreachable
         * @throws \Dlock\DeadlockException immediately, if this process already holds the lock and renews it without limit (dlock.max_hold 0)
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
         * @param string $key 1 to 1024 bytes
         * @return bool true: released by this call; false: this object did not hold it, or had lost it
         * @throws \Dlock\ConnectionException the outcome is unknown; the lock ends with its lease
         * @throws \Dlock\DlockException the lock was acquired with acquire(): use Lease::release()
         */
        public function release(string $key): bool {}

        public function unlock(string $key): bool {}

        /**
         * Releases all locks that this object acquired with lock().
         *
         * @return bool true: all were still held, or there were none; false: one was lost, or belongs to a Lease
         * @throws \Dlock\ConnectionException the outcome of one is unknown; all were tried
         */
        public function unlockAll(): bool {}

        /**
         * Sets the remaining lease time of a lock that was acquired with lock(). From then on it is not renewed.
         *
         * @param string $key       1 to 1024 bytes
         * @param int|float $expire 0.003 s to a year
         * @return bool false: this object does not hold it
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
         * Asks the server whether this object holds the lock, by lock() or acquire().
         *
         * @param string $key 1 to 1024 bytes
         * @return bool false also if another client holds it; see isLocked()
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
     * Locks on a majority of independent Redis servers (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
     *
     * A server that was started less than the lease time or dlock.restart_guard ago may have lost locks and does not vote
     * (docs/operations.md).
     *
     * @example
     * $locks = new RedLock(['redis://r1', 'redis://r2', 'redis://r3'], prefix: 'shop:');
     * $lease = $locks->acquire('order:7', timeout: 2.0);
     * ship(7);
     * $lease->release();                  // => true
     */
    class RedLock implements \Dlock\LockManager
    {
        /**
         * Does not connect. dlock.restart_guard is read here.
         *
         * @param array $servers   1 to 64 different servers, each a DSN or array as for DistributedLock. Independent: no Sentinel, no Cluster, no replicas
         * @param int $retryDelay  longest random pause between two attempts of lock(), 1 to 60,000 ms; the shortest is half of it
         * @param int $retryCount  attempts of lock(), 1 to 1,000,000. There is no pause before the second one
         * @param string $prefix   the key of a resource is $prefix . $resource
         * @param float|null $ttl  default lease time of acquire(), 0.003 s to a year; null: dlock.ttl
         * @param float|null $timeout longest wait of acquire() and synchronized(), 0 to a year; null: dlock.timeout. Not of lock()
         * @param bool|null $renew true: renew all leases; false: none; null: those that acquire() acquires without a lease time
         * @param string $onLoss   "flag": Lease::isHeld() turns false. "throw": LeaseLostException in the running code as well
         * @param bool|null $releaseOnShutdown release at the end of the request what it still holds; null: dlock.release_on_shutdown. false: another process will unlock()
         * @param bool $reentrant  a strand that has the lock by acquire() of such an object acquires it once more at once (docs/leases.md). Not by lock()
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
         * Acquires the lock, in up to $retryCount attempts.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param int $ttl lease time in milliseconds, 1 ms to a year. 1 and 2 always fail: 1 % and 2 ms are set aside for clock drift. Below 100 PHP warns
         * @return array{validity: float, resource: string, token: string, fencingToken: int}|false "validity": milliseconds for which the lock
         *         may be relied on; false: not acquired, or too few servers answered
         * @throws \Dlock\DlockException the renewal thread cannot be started (renew: true)
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
         * Releases what lock() returned, from any process.
         *
         * @param array $lock what lock() returned; "resource" and "token" are used
         * @return bool true: a majority held the lock for this token; false: it did not, or too few servers answered
         * @throws \ValueError the array is not from lock()
         */
        public function unlock(#[\SensitiveParameter] array $lock): bool {}

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
     * Locks on a ZooKeeper ensemble: ephemeral sequential nodes
     * (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks), with one session per process.
     *
     * @example
     * $locks = new ZkLock('zk1:2181,zk2:2181,zk3:2181');
     * $lease = $locks->tryAcquire('order:7');     // null: held elsewhere
     */
    class ZkLock implements \Dlock\LockManager
    {
        /**
         * Does not connect. The first call that needs the servers opens the session.
         *
         * @param string|array $servers   "h1:2181,h2:2181/chroot", or ['host' => …, 'port' => …]. Default port 2181
         * @param string $root            absolute path of the node that has all locks below it; created on demand
         * @param float $sessionTimeout   0.1 to 86,400 s; the servers move it into their own bounds
         * @param string|null $auth       "digest:user:password": only this user can access the nodes
         * @param float|null $timeout     longest wait of acquire() and synchronized(), 0 to a year; null: dlock.timeout. Not of lock()
         * @param string $onLoss          "flag": Lease::isHeld() turns false. "throw": LeaseLostException in the running code as well
         * @param bool|null $releaseOnShutdown release at the end of the request what it still holds; null: dlock.release_on_shutdown. false: it stays until the worker's session ends
         * @param bool $reentrant         a strand that has the lock by such an object acquires it once more at once (docs/leases.md)
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
         * Acquires the lock for this object; once more only with $reentrant: then release() is called as often.
         *
         * @param string $resource        1 to 1024 bytes, any bytes; those that a node's name cannot have are written as %XX
         * @param int|float|null $timeout longest wait, up to a year; null: no limit, 0: one attempt
         * @return bool true: acquired; false: timeout
         * @throws \Dlock\ConnectionException no connection. The first call waits $sessionTimeout for one; later calls the shorter of both times
         * @throws \Dlock\DeadlockException immediately, if this process already holds the lock
         */
        public function lock(string $resource, int|float|null $timeout = null): bool {}

        /**
         * Releases a lock that this object acquired with lock().
         *
         * @param string $resource 1 to 1024 bytes
         * @return bool true: released by this call; false: this object did not hold it, or had lost it
         * @throws \Dlock\DlockException the lock was acquired with acquire(): use Lease::release()
         * @throws \Dlock\ConnectionException the outcome is unknown; the lock ends with its session
         * @implementation-alias DistributedLock::release
         */
        public function release(string $resource): bool {}

        public function unlock(string $resource): bool {}

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
}
