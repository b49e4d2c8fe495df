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
     * What DistributedLock, RedLock, ZkLock and the two sides of a ReadWriteLock have in common.
     *
     * A resource is 1 to 1024 bytes, any bytes. With the prefix before it, it must make none of the keys that dlock keeps on Redis beside the
     * locks: "dlock:fence", "dlock:era", and what begins with "dlock:queue:", "dlock:waiters:", "dlock:fence:" or "dlock:era:".
     */
    interface LockManager
    {
        /**
         * Waits, without polling (but on memcached), until the lock is held. Signals are handled meanwhile.
         *
         * @param string $resource    1 to 1024 bytes, any bytes
         * @param float|null $timeout seconds to wait, 0 to a year; null: the manager's, 0: try once
         * @param float|null $ttl     seconds of lease, 0.003 to a year; null: the manager's, renewed while the holder runs. On
         *                            memcached 4 s to 30 days. ZkLock: must be null, the session is the lease
         * @throws AcquireTimeoutException when the lock was not free in that time
         * @throws ConnectionException when a server could not be asked; RedLock: QuorumException, when too few could
         * @throws DeadlockException at once, where it would wait for a lock that this process itself holds and renews
         *                                 without limit (dlock.max_hold 0)
         * @throws DlockException when the thread that renews could not be started
         */
        #[\NoDiscard]
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): Lease;

        /**
         * The same, but null where acquire() would time out.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param float $timeout   seconds to wait, 0 to a year; 0: try once
         * @param float|null $ttl  as with acquire()
         * @throws ConnectionException | DeadlockException | DlockException as acquire()
         */
        #[\NoDiscard]
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease;

        /**
         * Runs $criticalSection(Lease) under the lock, releases it, and returns its result, also where that release had no answer.
         *
         * @param string $resource          1 to 1024 bytes, any bytes
         * @template T
         * @param callable(Lease): T $criticalSection gets the Lease; what it throws comes through. Not a generator, nor one that returns a promise:
         *        it would run on without the lock, and is a \TypeError
         * @param float|null $timeout       as with acquire()
         * @param float|null $ttl           as with acquire()
         * @return T
         * @throws LeaseLostException when the lease was lost before the section ended (the section's own exception is its previous)
         * @throws AcquireTimeoutException | ConnectionException | DeadlockException | DlockException as acquire(), before the section
         */
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed;

        /**
         * Takes up a lease that Lease::detach() handed over, from any process, with the lease time that is left. It is renewed if it
         * was so before, unless the manager's $renew says otherwise.
         *
         * A handle works once: the lease has a token of its own from then on, and a greater fencing token, so that every copy of the
         * handle is void. (RedLock: a server that was started recently has no vote, as with acquire().)
         *
         * @param string $handle what detach() returned; the manager must be of the same class, servers and prefix
         * @throws \ValueError when the handle was altered or is another kind of lock's. ZkLock: always
         * @throws LeaseLostException when the handle was attached already, or the lease has been released or is over
         * @throws ConnectionException when a server could not be asked; RedLock: QuorumException. What was changed is changed back, as
         *         far as the servers can be reached, so that the handle can be tried again
         */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease;

        /**
         * Is the lock held by anyone? It may be free, or taken, by the time the answer is here.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @throws ConnectionException when a server could not be asked; RedLock: QuorumException
         */
        public function isLocked(string $resource): bool;
    }

    /** What a holder knows of its lease, from memory alone (docs/leases.md). */
    enum LeaseState
    {
        /** The lease time is not over. */
        case Held;
        /** The lease time is not over, but the last request for more was not answered (Chubby's "jeopardy"). */
        case Uncertain;
        /** The lease time is over, or a server said that the lock is not this lease's any more. It stays so. */
        case Lost;
        /** Released, or handed over by detach(). */
        case Released;
    }

    /**
     * One acquisition. Released when it goes out of scope, unless detached.
     *
     * Its deadline is counted from the moment before the last acknowledged request was sent, on a clock that goes on during
     * suspend, less 1 % and 2 ms: it is never later than the server's (docs/leases.md).
     */
    final class Lease
    {
        /** As it was given to acquire(). */
        public readonly string $resource;
        /** Owner token, with 128 random bits. Dumps, traces and json_encode() do not show it; foreach and get_object_vars() do. */
        public readonly string $token;
        /**
         * Greater than that of every earlier holder of the resource; numbers may be skipped. For stores that refuse a late
         * write: https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html
         */
        public readonly int $fencingToken;
        /** Of a Semaphore, as many as were asked for; otherwise 1. */
        public readonly int $permits;

        private function __construct() {}

        /** What is known of the lease now. No I/O. */
        public function state(): LeaseState {}

        /** Is state() Held or Uncertain? No I/O. */
        public function isHeld(): bool {}

        /**
         * Seconds for which the holder may still rely on the lock, 0.0 when lost. No I/O. Right after a wait on one Redis it may be 1 to
         * 3 s whatever the lease time: a lock that was handed over lasts for that long until its lease time has been asked for, about a
         * second later.
         */
        public function remaining(): float {}

        /**
         * For the line before a write. No I/O.
         *
         * @throws LeaseLostException when isHeld() is false
         */
        public function assertHeld(): void {}

        /**
         * New lease time from now on, and for further renewals where it is renewed.
         *
         * @param float|null $ttl seconds, 0.003 to a year; null: as before. ZkLock: must be null, and nothing is sent
         * @throws LeaseLostException when it is too late
         * @throws ConnectionException when a server could not be asked; RedLock: QuorumException. The lease goes on as it was,
         *         or for the shorter one of both times
         */
        public function refresh(?float $ttl = null): void {}

        /**
         * Gives the lock back. The lease is over afterwards, whatever the answer.
         *
         * @return bool true: released by this call; false: it was already lost or released
         * @throws ConnectionException when it is not known which; RedLock: QuorumException. The end of
         *         its lease still frees the lock, and the work is done: after it, catch this exception, or use
         *         LockManager::synchronized(), which returns the section's result
         */
        public function release(): bool {}

        /**
         * Stops renewal and automatic release, and returns a handle for LockManager::attach(), which works once. Nobody renews the lease
         * until then, so it lasts for the time that is left: give it a lease time as long as that may take. Whoever has the handle has
         * the lock; it contains no password. It is not signed: add a signature of your own if it passes through the hands of
         * somebody who must not change the length of renewals in it. Not for ZkLock (its session cannot move).
         *
         * @throws LeaseLostException when there is nothing left to hand over
         * @throws ConnectionException right after a wait on one Redis, when the server does not answer: the lease is still held
         * @throws DlockException for a lease of ZkLock
         */
        public function detach(): string {}
    }

    /** What Semaphore offers but for its constructor, for code that is tested with something else in its place. */
    interface SemaphoreInterface
    {
        /**
         * Waits, without polling, until the permits are held. Signals are handled meanwhile.
         *
         * @param string $resource    1 to 1024 bytes, any bytes
         * @param int $permits        1 to the capacity, had all at once and released all at once
         * @param float|null $timeout seconds to wait, 0 to a year; null: the semaphore's, 0: try once
         * @param float|null $ttl     seconds of lease, 0.003 to a year; null: the semaphore's, renewed while the holder runs. ZooKeeper:
         *                            must be null
         * @return Lease with these permits; its fencing token is greater than that of every earlier holder of the resource
         * @throws AcquireTimeoutException when they were not free in that time
         * @throws ConnectionException when the server could not be asked
         * @throws DeadlockException at once, where this process itself holds too many, renewed without limit (dlock.max_hold 0), that
         *                           it would wait for itself
         * @throws DlockException when the thread that renews could not be started
         */
        #[\NoDiscard]
        public function acquire(string $resource, int $permits = 1, ?float $timeout = null, ?float $ttl = null): Lease;

        /**
         * The same, but null where acquire() would time out.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param int $permits     1 to the capacity
         * @param float $timeout   seconds to wait, 0 to a year; 0: try once
         * @param float|null $ttl  as with acquire()
         * @throws ConnectionException | DeadlockException | DlockException as acquire()
         */
        #[\NoDiscard]
        public function tryAcquire(string $resource, int $permits = 1, float $timeout = 0.0, ?float $ttl = null): ?Lease;

        /**
         * Runs $criticalSection(Lease) with the permits, releases them, and returns its result, as LockManager::synchronized().
         *
         * @param string $resource          1 to 1024 bytes, any bytes
         * @template T
         * @param callable(Lease): T $criticalSection gets the Lease; what it throws comes through. Not a generator, nor one that returns a promise:
         *        it would run on without the lock, and is a \TypeError
         * @param int $permits              1 to the capacity
         * @param float|null $timeout       as with acquire()
         * @param float|null $ttl           as with acquire()
         * @return T
         * @throws LeaseLostException when the lease was lost before the section ended (the section's own exception is its previous)
         * @throws AcquireTimeoutException | ConnectionException | DeadlockException | DlockException as acquire(), before the section
         */
        public function synchronized(string $resource, callable $criticalSection, int $permits = 1, ?float $timeout = null, ?float $ttl = null): mixed;

        /**
         * As LockManager::attach(): takes up the permits of a lease that Lease::detach() handed over.
         *
         * @param string $handle what detach() returned; the semaphore must have the same server and prefix
         * @throws \ValueError when the handle was altered or is another kind of lock's
         * @throws LeaseLostException when the handle was attached already, or the lease has been released or is over
         * @throws ConnectionException when the server could not be asked
         */
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease;

        /**
         * Permits that nobody holds now; 0 where more are held than this semaphore's capacity. Others may be waiting for them.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @throws ConnectionException when the server could not be asked
         */
        public function availablePermits(string $resource): int;
    }

    /**
     * Counting semaphores on Redis (6.2 or later), ZooKeeper or memory://: up to $capacity permits of each resource are out at once. Permits are given in
     * the order in which they were asked for: a large request is not overtaken by smaller ones that came after it. A holder that dies has its
     * permits until its lease ends (docs/operations.md).
     */
    final class Semaphore implements SemaphoreInterface
    {
        /**
         * Connects to nothing yet.
         *
         * @param int $capacity permits of each resource, 1 to 999999999. It goes with each request and is stored nowhere: a request waits until
         *                      its own permits and those in use are no more than that. A program with a lower capacity than others
         *                      waits for longer; nothing is taken from holders
         * @param string|array|null $server as with DistributedLock, but no memcached; or ZooKeeper, as
         *                      "zookeeper://h1:2181,h2:2181/root?session_timeout=10"; null: INI dlock.server
         * @param string $prefix the key of a resource is exactly $prefix . $resource
         * @param float|null $ttl lease time in seconds of what is acquired without an explicit one, 0.003 to a year, with replicas not above
         *                      the guard; null: INI dlock.ttl. ZooKeeper: must be null, as $renew, the session is the lease
         * @param float|null $timeout longest wait in seconds of acquire() and synchronized(), 0 to a year; null: INI dlock.timeout
         * @param bool|null $renew renew leases in the background; null: exactly those acquired without an explicit lease time
         * @param string $onLoss "flag" or "throw", as with DistributedLock
         * @param bool|null $releaseOnShutdown release at the request's end what it still holds; null: INI dlock.release_on_shutdown
         * @throws \ValueError | \TypeError for what cannot be right in any of these; names the argument and what it may be
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
    }

    /** What ReadWriteLock offers but for its constructor, for code that is tested with something else in its place. */
    interface ReadWriteLockInterface
    {
        /** For readers: its leases may be held by many at once. A reader cannot become a writer: release, then acquire. */
        public function readLock(): LockManager;

        /** For writers: its leases exclude all others. */
        public function writeLock(): LockManager;
    }

    /**
     * Read/write locks on Redis (6.2 or later), ZooKeeper or memory://: a resource has any number of readers, or one writer. On Redis they are phase-fair: after a
     * writer all readers that wait go together, after readers the first writer (Brandenburg and Anderson, "Reader-Writer Synchronization for
     * Shared-Memory Multiprocessor Real-Time Systems", 2009). So nobody starves, and a reader waits for one writer at most.
     * On ZooKeeper all are served in the order in which they came.
     */
    final class ReadWriteLock implements ReadWriteLockInterface
    {
        /**
         * Connects to nothing yet.
         *
         * @param string|array|null $server as with DistributedLock, but no memcached; or ZooKeeper, as
         *                      "zookeeper://h1:2181,h2:2181/root?session_timeout=10"; null: INI dlock.server
         * @param string $prefix the key of a resource is exactly $prefix . $resource
         * @param float|null $ttl lease time in seconds of what is acquired without an explicit one, 0.003 to a year, with replicas not above
         *                      the guard; null: INI dlock.ttl. ZooKeeper: must be null, as $renew, the session is the lease
         * @param float|null $timeout longest wait in seconds of acquire() and synchronized(), 0 to a year; null: INI dlock.timeout
         * @param bool|null $renew renew leases in the background; null: exactly those acquired without an explicit lease time
         * @param string $onLoss "flag" or "throw", as with DistributedLock
         * @param bool|null $releaseOnShutdown release at the request's end what it still holds; null: INI dlock.release_on_shutdown
         * @param string $fairness "phase", or "fifo": in the order in which they came, for many writers and few readers. All that share a
         *                      lock need the same one. ZooKeeper: always "fifo"
         * @throws \ValueError | \TypeError for what cannot be right in any of these; names the argument and what it may be
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
     * What ReadWriteLock::readLock() and writeLock() return. isLocked() of both says whether anyone reads or writes, and a handle of the one is
     * not taken by the other. Use LockManager as the type.
     */
    final class ReadWriteLockSide implements LockManager
    {
        private function __construct() {}

        #[\NoDiscard]
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): Lease {}
        #[\NoDiscard]
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?Lease {}
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): Lease {}
        public function isLocked(string $resource): bool {}
    }

    /** How an order stands. */
    enum OrderState: string
    {
        /** Its units are reserved, for a time. */
        case Reserved = "reserved";
        /** Its time ended before it was confirmed: it holds nothing, and can still be confirmed while units are available. */
        case Ended = "ended";
        /** It is bought. */
        case Sold = "sold";
        /** It holds nothing, and cannot be bought. */
        case Cancelled = "cancelled";
        /** It was bought, and the money is given back. */
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

    /** Some of a product's orders; foreach goes over them.
     * @implements \IteratorAggregate<int, Order>
     */
    final class OrderPage implements \IteratorAggregate
    {
        /** A list of Order. */
        public readonly array $orders;
        /** For the $after of the next call; null: there are no more. */
        public readonly ?string $next;

        private function __construct() {}

        /** Goes over $orders. */
        public function getIterator(): \Iterator {}
    }

    /** What Stock offers but for its constructor, for code that is tested with something else in its place. */
    interface Inventory
    {
        /**
         * Puts units in, or takes out such as are neither reserved nor sold.
         *
         * @param string $sku         the product's name
         * @param int $quantity       1 to 999999999, the most that a stock has: more are not put in. Less than 0: out, as many of them as there are
         * @param string|null $change a name for this change: it is made once, however often it is asked for, and its name is kept. null: each call
         *                            is one
         * @return int by how many units the stock changed; of a change that was made before, by how many then
         * @throws ConnectionException when it is not known; with a name, ask again
         */
        public function restock(string $sku, int $quantity, ?string $change = null): int;

        /**
         * Reserves all that is asked for, or nothing. Asked again with the same $buyer and $order, it returns the same reservation. The name of an order
         * that ended or was cancelled can be reserved anew; earlier Reservation objects do not act on the new one.
         *
         * @param string|array $items one unit of this SKU; or units by SKU, 1 to 999999999 each, of up to 16 products. On a cluster
         *                            several must share a hash slot, by a common part in braces
         * @param string $buyer       whom $perBuyer counts for
         * @param string $order       the order's name, such as its number: by this name it is found again
         * @param float $timeout      seconds to wait for units that others have reserved, 0 to a year; 0 for several products. Null at once
         *                            while nobody has any reserved, or if fewer than that are not sold
         * @param float|null $ttl     seconds for which it lasts, 0.003 to a year; null: the object's
         * @param bool $strict        throw UnknownProductException for a product that was never put in, instead of returning null
         * @return Reservation|null null: not enough; sold out, all reserved, the sale is closed, or the order was cancelled while it waited. What it
         *                          had bought before is a Reservation, too
         * @throws LimitExceededException when the buyer would have more than $perBuyer
         * @throws OrderConflictException when there is an order of this name for other products or quantities
         * @throws ConnectionException when it is not known; ask again with the same $order
         */
        public function reserve(string|array $items, string $buyer, string $order, float $timeout = 0.0, ?float $ttl = null, bool $strict = false): ?Reservation;

        /**
         * A reservation that any process made; nothing is asked yet. It acts on the last order of this name.
         *
         * @param string|array $items as given to reserve(); quantities do not matter
         * @param string $buyer as given to reserve()
         * @param string $order as given to reserve()
         */
        public function reservation(string|array $items, string $buyer, string $order): Reservation;

        /**
         * How an order stands. Changes nothing.
         *
         * @param string|array $items as given to reserve(); quantities do not matter
         * @param string $buyer as given to reserve()
         * @param string $order as given to reserve()
         * @return Order|null null: there is no such order of these products, or it is forgotten
         * @throws ConnectionException when the server could not be asked
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
         * @throws ConnectionException when the server could not be asked
         */
        public function orders(string $sku, ?string $buyer = null, ?OrderState $state = null, float $since = 0.0, int $limit = 100, ?string $after = null): OrderPage;

        /**
         * What there is of a product, all of one moment. The units that were ever put in are available + reserved + sold.
         *
         * @param string|array $sku the product's name; or a list of names, of up to 16: of one moment for those that share a hash slot
         * @param bool $confirmed   with replicas: they have what is counted
         * @return array{state: string, available: int, reserved: int, sold: int, waiting: int} state: "unknown", "open", "closed" or "ended"; the
         *         others are units; of waiting, requests: also those whose process died, until it is their turn. Of a list: such an array by SKU
         * @throws ConnectionException when the server could not be asked
         */
        public function counts(string|array $sku, bool $confirmed = false): array;

        /**
         * Opens a sale that was closed.
         *
         * @param string $sku the product's name
         * @throws UnknownProductException for a product that was never put in
         * @throws SaleEndedException when it has ended
         * @throws ConnectionException when it is not known; ask again
         */
        public function open(string $sku): void;

        /**
         * Closes a sale until it is opened again: reserve() returns null, and those that wait are told. Reservations can be confirmed, also late.
         *
         * @param string $sku the product's name
         * @throws UnknownProductException for a product that was never put in
         * @throws SaleEndedException when it has ended
         * @throws ConnectionException when it is not known; ask again
         */
        public function close(string $sku): void;

        /**
         * Closes a sale for good. Reservations can be confirmed until their time ends.
         *
         * @param string $sku the product's name
         * @throws UnknownProductException for a product that was never put in
         * @throws ConnectionException when it is not known; ask again
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
     */
    final class Stock implements Inventory
    {
        /**
         * Connects to nothing yet.
         *
         * @param string|array|null $server as DistributedLock's: Redis, also behind Sentinels or as a cluster, or memory://. With replicas, what a
         *                             call has answered is on that number of them (docs/fail-over.md). memcached and RedLock's several servers have
         *                             no stocks. null: INI dlock.server
         * @param string $prefix       the product's key is exactly $prefix . $sku
         * @param float $ttl           seconds for which a reservation lasts without an explicit time, 0.003 to a year
         * @param int|null $perBuyer   the most units of one product that one buyer may have reserved and bought in all, 1 to 999999999; null:
         *                             any number. It goes with each request and is stored nowhere
         * @param string $fairness     of those that wait. "fit": units go to the first waiter that they are enough for. "fifo": no later request
         *                             passes one made with this object, so units may stay unsold while it waits for more
         * @param float $remember      seconds for which orders are remembered that ended or were cancelled, 1 to a year. It is stored by restock()
         * @throws \ValueError | \TypeError for what cannot be right in any of these; names the argument and what it may be
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

        private function __construct() {}

        /**
         * Seconds for which nobody else can get the units, as far as this object knows: 0.0 before it has asked, INF when they are sold to the buyer.
         * Counted as a lease's. No I/O.
         */
        public function remaining(): float {}

        /**
         * How the order stands now. Changes nothing.
         *
         * @return OrderState|null null: there is no such order, or it is forgotten
         * @throws ConnectionException when the server could not be asked
         */
        public function status(): ?OrderState {}

        /**
         * It lasts for at least so long from now on, all of it. Never shortens it.
         *
         * @param float|null $ttl seconds, 0.003 to a year; null: as it was reserved for, or the Stock's
         * @throws ReservationExpiredException when it has ended, was cancelled or sold
         * @throws OrderConflictException when the order is for other products
         * @throws ConnectionException when it is not known; ask again
         */
        public function extend(?float $ttl = null): void {}

        /**
         * Buys: the units are sold. May be repeated. After its time has ended it still succeeds while as many units are available, and $perBuyer allows
         * it; it goes before those that wait.
         *
         * @return bool true: bought by this call; false: it was before
         * @throws ReservationExpiredException when it has ended and too few units are available, or it was cancelled: nothing is bought
         * @throws OrderConflictException when the order is for other products: no part of an order is bought
         * @throws ConnectionException when it is not known; ask again
         */
        public function confirm(): bool {}

        /**
         * Makes the units available again, for the first waiter that they are enough for; or withdraws a request that waits. A payment that comes later
         * is refused.
         *
         * @return bool false: nothing was reserved, or the units are already sold (a sale is not undone)
         * @throws OrderConflictException when the order is for other products
         * @throws ConnectionException when it is not known; ask again
         */
        public function cancel(): bool {}

        /**
         * Takes a sale back, or a part of it.
         *
         * @param bool $restock      the units are for sale again; false: the stock has so many fewer
         * @param int|null $quantity units of an order of one product; null: all of the order
         * @param string|null $change the name of the refund of a part, which is made once; needed with $quantity
         * @return bool true: by this call; false: it was before
         * @throws ReservationExpiredException when there is no such order, or this one was superseded
         * @throws OrderConflictException when it is not sold, is for other products, or has fewer units
         * @throws ConnectionException when it is not known; ask again
         */
        public function refund(bool $restock = true, ?int $quantity = null, ?string $change = null): bool {}

        /**
         * Other quantities of the same products, all or nothing, for the time that is left.
         *
         * @param array $items units by SKU, 1 to 999999999 each
         * @throws OutOfStockException when too few units are available: it stays as it was
         * @throws LimitExceededException when the buyer would have more than $perBuyer: it stays as it was
         * @throws ReservationExpiredException when it has ended, was cancelled or sold
         * @throws OrderConflictException when the order is for other products
         * @throws ConnectionException when it is not known; ask again
         */
        public function change(array $items): void {}
    }

    /**
     * For tests of applications (docs/testing-your-app.md).
     */
    final class Testing
    {
        private function __construct() {}

        /**
         * Moves the clock of this process on, as if the machine had been suspended for so long. Leases, also renewed ones, reservations and waits
         * whose time is over then have ended. Servers have clocks of their own: with memory:// nothing else is needed.
         *
         * @param float $seconds 0 to 1000000000
         */
        public static function travel(float $seconds): void {}
    }

    /**
     * This process' counters since it started; under ZTS this thread's, but for renewals, renewal_failures and the renewal
     * thread's part of connections and reconnections, which are the process'.
     *
     * - acquisitions: locks that were acquired
     * - waits: attempts that did not succeed at once, whatever became of them
     * - wait_time: seconds spent on these
     * - timeouts: attempts whose time was over, those with a timeout of 0 included
     * - releases: locks that were given back by a call, and not by the end of a variable or of the request
     * - hand_overs_given: such releases that handed the lock to a waiter, or told one to try; ZooKeeper does not tell
     * - hand_overs_received: acquisitions that came from such a release
     * - renewals, renewal_failures: lease times extended in the background; attempts at that without an answer
     * - losses: leases found lost
     * - connections, reconnections: to Redis, opened so far; those of them that replaced another one
     * - sessions: on ZooKeeper, opened so far
     * - reservations, reservations_refused: answers of Stock::reserve(), repeated ones as well
     * - sales: orders that a confirm() of this process bought; late_sales: those of them whose time had ended; expired_refusals: confirm() that was refused
     * - cancellations, refunds: by a call of this process
     *
     * @return array{acquisitions: int, waits: int, wait_time: float, timeouts: int, releases: int, hand_overs_given: int,
     *         hand_overs_received: int, renewals: int, renewal_failures: int, losses: int, connections: int, reconnections: int,
     *         sessions: int, reservations: int, reservations_refused: int, sales: int, late_sales: int, cancellations: int, refunds: int,
     *         expired_refusals: int}
     */
    function stats(): array {}

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
     * The members of an ensemble, as ZkLock reads its $servers. For dlock-doctor; may change in any version.
     *
     * @internal
     * @param string|array $servers  ZkLock's $servers
     * @return list<array{backend: string, label: string, host: string, port: int}>
     */
    function describe_ensemble(#[\SensitiveParameter] string|array $servers): array {}

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

        /**
         * What each server said that did not answer as it should, or has no vote.
         *
         * @return array<string, string> "host:port" (or the socket's path) => reason
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
     * Named locks on one Redis server: the string key $prefix . $resource, taken by SET NX PX with an unguessable token and
     * given back by compare-and-delete, as described in https://redis.io/docs/latest/commands/set/. A lock that is waited for
     * is handed over (docs/hand-over.md). Or on Redis servers that fail over to their replicas: behind Sentinels, in a cluster, or
     * at one address; there a lock is confirmed by replicas, and has one holder through a fail-over. Or on one memcached, which
     * forgets and is polled, or in this process, for tests (docs/operations.md).
     *
     * lock() to isLocking() are the calls of userland classes; the rest is Dlock\LockManager's. What the one kind took, the
     * other does not release: release(), unlock() and expire() of what acquire() took throw.
     */
    class DistributedLock implements \Dlock\LockManager
    {
        /**
         * Connects to nothing yet: the first call that asks the server does.
         *
         * @param string|array|null $server  DSN ("redis://user:pw@host:6379/0?connect_timeout=0.2&read_timeout=1", "rediss://…",
         *                                   "unix:///run/redis.sock?db=1"), the list [host, port, connect timeout in s], or
         *                                   phpredis' constructor array (host, port, auth, database, ssl, connectTimeout, readTimeout).
         *                                   Redis behind Sentinels: "sentinel://user:pw@s1:26379,s2:26379/mymaster/0", or such an
         *                                   array with sentinels (a list of "host:port" or [host, port]) and service instead of host
         *                                   and port. A Redis Cluster: "cluster://user:pw@h1:7000,h2:7001", or such an array with
         *                                   cluster, a list likewise. User and password are for the Redis servers; for the Sentinels
         *                                   there are the options sentinel_user and sentinel_password, in an array sentinelAuth.
         *                                   tls=1, in an array ssl, is for both; sentinel_tls, sentinelTls say otherwise for the
         *                                   Sentinels. Two more options of each kind of Redis: replicas, how many of them must confirm
         *                                   a lock, 0 to 8, by default 1 with Sentinels and in a cluster, otherwise 0; with 0 a
         *                                   fail-over can make two holders. guard, where replicas confirm: for how long no lock is
         *                                   granted after a fail-over, and the longest lease time, 0.1 to 3600 s; by default INI
         *                                   dlock.restart_guard (10 s where it is 0), or dlock.ttl if that is longer. All programs that
         *                                   share locks need the same guard. resync_guard, in an array resyncGuard, by default true: nor
         *                                   is one for that long after a replica has taken a full copy of its master's data, so that
         *                                   one that was moved back to a master that was replaced confirms nothing there.
         *                                   "memcached://host:11211", "memcached:///run/memcached.sock", or such an array with the
         *                                   scheme "memcached". "memory://", "memory://name": a table of this process, for tests.
         *                                   null: INI dlock.server
         * @param string $prefix             the lock's key is exactly $prefix . $resource
         * @param float|null $ttl            lease time in seconds of what is acquired without an explicit one, 0.003 to a year,
         *                                   on memcached 4 s to 30 days, with replicas not above the guard, as wherever a lease time is
         *                                   given; null: INI dlock.ttl
         * @param float|null $timeout        longest wait in seconds of acquire() and synchronized(), 0 to a year; null: INI
         *                                   dlock.timeout. Does not concern lock()
         * @param bool|null $renew           renew leases in the background; null: exactly those acquired without an
         *                                   explicit lease time
         * @param string $onLoss             "flag" (Lease::isHeld() turns false) or "throw" (LeaseLostException in the running
         *                                   code as well, between two of its opcodes)
         * @param bool|null $releaseOnShutdown release at the request's end what it still holds; null: INI
         *                                   dlock.release_on_shutdown. false: what is held when the request ends is left to its
         *                                   lease time
         * @param bool $legacy               share locks with hosts still running SETNX/GETSET timestamp code, or SETNX and EXPIRE.
         *                                   Every host with this class then needs it, and a $ttl shorter than the expiry in
         *                                   the old code by some 2 s: see docs/legacy.md. One Redis server only, without replicas
         * @throws \ValueError | \TypeError for what cannot be right in any of these; names the argument and what it may be
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
         * Takes the lock for this object. It is not reentrant.
         *
         * @param string $key             1 to 1024 bytes, any bytes
         * @param int|float|null $timeout seconds to wait, up to a year; null: without limit, 0: try once
         * @param int|float|null $expire  seconds of lease, 0.003 to a year; null: the object's $ttl, renewed while the request runs
         * @return bool true: it is held now; false: the time was over
         * @throws \Dlock\ConnectionException when the server could not be asked
         * @throws \Dlock\DeadlockException at once, where it would wait for a lock that this process itself holds and renews
         *                                 without limit (dlock.max_hold 0)
         * @throws \Dlock\DlockException when the thread that renews could not be started
         */
        public function lock(string $key, int|float|null $timeout = null, int|float|null $expire = null): bool {}

        /**
         * Gives back what this object took with lock().
         *
         * @param string $key 1 to 1024 bytes
         * @return bool true: this object held the lock until now; false: it did not, or had lost it
         * @throws \Dlock\ConnectionException when it is not known whether it was released; the end of its
         *         lease still frees it
         * @throws \Dlock\DlockException where this object holds it by acquire(): its Lease has release()
         */
        public function release(string $key): bool {}

        public function unlock(string $key): bool {}

        /**
         * Releases all that this object took with lock().
         *
         * @return bool true: every one of them was still held, or there was none; false: one was lost, or this object holds a lock by
         *         acquire(), which only its Lease releases
         * @throws \Dlock\ConnectionException when it is not known of one of them; all have been tried
         */
        public function unlockAll(): bool {}

        /**
         * Sets the remaining lease time of a lock that this object took with lock(); from then on it is no longer renewed.
         *
         * @param string $key       1 to 1024 bytes
         * @param int|float $expire seconds, 0.003 to a year
         * @return bool false: this object does not hold it
         * @throws \Dlock\ConnectionException when the server could not be asked
         * @throws \Dlock\DlockException where this object holds it by acquire(): its Lease has refresh()
         */
        public function expire(string $key, int|float $expire): bool {}

        /**
         * Asks the server: is it this object that holds the lock now, by lock() or by acquire()?
         *
         * @param string $key 1 to 1024 bytes
         * @return bool false also where somebody else holds it; isLocked() tells that
         * @throws \Dlock\ConnectionException when the server could not be asked
         */
        public function isLocking(string $key): bool {}

        #[\NoDiscard]
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        #[\NoDiscard]
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        public function isLocked(string $resource): bool {}
    }

    /**
     * Redlock over N independent Redis masters: held when a majority says so
     * (https://redis.io/docs/latest/develop/use/patterns/distributed-locks/).
     *
     * A server that has been up for less than the lease time, or than INI dlock.restart_guard (0: off), may have forgotten locks
     * and has no vote when a lock is acquired or attached, unless all servers were started within some 5 s of each other, and all
     * can be reached.
     */
    class RedLock implements \Dlock\LockManager
    {
        /**
         * Connects to nothing yet. INI dlock.restart_guard is read here.
         *
         * @param array $servers   list of 1 to 64 different servers, each in a form that DistributedLock takes, but without replicas,
         *                         Sentinels or a cluster: they must be independent of each other
         * @param int $retryDelay  milliseconds, 1 to 60000: upper bound of the random pause between two attempts of lock();
         *                         the lower one is half of it
         * @param int $retryCount  attempts of lock() in all, 1 to 1000000. The second comes at once, to join the queue, so that there are
         *                         $retryCount - 2 pauses
         * @param string $prefix   put before each resource to make its key
         * @param float|null $ttl  lease time in seconds of acquire() without an explicit one, 0.003 to a year; null: INI dlock.ttl
         * @param float|null $timeout longest wait in seconds of acquire() and synchronized(), 0 to a year; null: INI
         *                         dlock.timeout. Does not concern lock()
         * @param bool|null $renew as with DistributedLock; null renews nothing that lock() takes
         * @param string $onLoss   "flag" or "throw", as with DistributedLock
         * @param bool|null $releaseOnShutdown release at the request's end what it still holds; null: INI
         *                         dlock.release_on_shutdown. false: for locks that another process is to unlock()
         * @throws \ValueError | \TypeError for what cannot be right in any of these; names the argument and what it may be
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
         * Takes the lock, in up to $retryCount attempts.
         *
         * @param string $resource 1 to 1024 bytes, any bytes
         * @param int $ttl milliseconds of lease, 1 to a year; below 100 with a warning, since it may be meant in seconds (1 and 2 are never had: 2 ms and 1 % are set aside for clocks)
         * @return array{validity: float, resource: string, token: string, fencingToken: int}|false "validity" is the milliseconds
         *         for which it may be relied upon from now on; false: not acquired, also where too few servers answered
         * @throws \Dlock\DlockException when the thread that renews could not be started (renew: true)
         */
        public function lock(string $resource, int $ttl = 10000): array|false {}

        /**
         * Gives back what lock() returned, also in another process.
         *
         * @param array $lock what lock() returned; "resource" and "token" of it are used
         * @return bool true: a majority had the lock for this token until now; false: it had not, or too few servers answered
         * @throws \ValueError for an array that is not lock()'s
         */
        public function unlock(#[\SensitiveParameter] array $lock): bool {}

        #[\NoDiscard]
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        #[\NoDiscard]
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        public function isLocked(string $resource): bool {}
    }

    /**
     * Locks on a ZooKeeper ensemble: ephemeral sequential nodes
     * (https://zookeeper.apache.org/doc/current/recipes.html#sc_recipes_Locks), one session per process.
     */
    class ZkLock implements \Dlock\LockManager
    {
        /**
         * Opens no session yet: the first call that asks the servers does.
         *
         * @param string|array $servers   "h1:2181,h2:2181/chroot" (port 2181 may be left out), or ['host' => …, 'port' => …]
         * @param string $root            absolute path of the node below which all locks are; made on demand
         * @param float $sessionTimeout   seconds, 0.1 to 86400; the servers may set another one within their bounds
         * @param string|null $auth       "digest:user:password"; lock nodes are then readable and writable by it alone
         * @param float|null $timeout     longest wait in seconds of acquire() and synchronized(), 0 to a year; null: INI
         *                                dlock.timeout. Does not concern lock()
         * @param string $onLoss          "flag" or "throw", as with DistributedLock
         * @param bool|null $releaseOnShutdown release at the request's end what it still holds; null: INI
         *                                dlock.release_on_shutdown. false: it is held until the worker's session ends
         * @throws \ValueError | \TypeError for what cannot be right in any of these; names the argument and what it may be
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
         * Takes the lock for this object. It is not reentrant.
         *
         * @param string $resource        1 to 1024 bytes, any bytes; what a node's name cannot have is written as %XX
         * @param int|float|null $timeout seconds to wait, up to a year; null: without limit, 0: try once
         * @return bool true: it is held now; false: the time was over
         * @throws \Dlock\ConnectionException when there is no connection. The first call waits for it for $sessionTimeout, whatever the
         *                                    $timeout; later ones, while there is still none, for the shorter one of both
         * @throws \Dlock\DeadlockException at once, where it would wait for a lock that this process itself holds
         */
        public function lock(string $resource, int|float|null $timeout = null): bool {}

        /**
         * Gives back what this object took with lock().
         *
         * @implementation-alias DistributedLock::release
         * @param string $resource 1 to 1024 bytes
         * @return bool true: this object held the lock until now; false: it did not, or had lost it
         * @throws \Dlock\DlockException where this object holds it by acquire(): its Lease has release()
         * @throws \Dlock\ConnectionException when it is not known whether it was released; the end of the session still frees it
         */
        public function release(string $resource): bool {}

        public function unlock(string $resource): bool {}

        #[\NoDiscard]
        public function acquire(string $resource, ?float $timeout = null, ?float $ttl = null): \Dlock\Lease {}
        #[\NoDiscard]
        public function tryAcquire(string $resource, float $timeout = 0.0, ?float $ttl = null): ?\Dlock\Lease {}
        public function synchronized(string $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed {}
        #[\NoDiscard]
        public function attach(#[\SensitiveParameter] string $handle): \Dlock\Lease {}
        public function isLocked(string $resource): bool {}
    }
}
