<?php
/* The calls of all classes in one form: a number of permits of a resource with a capacity. A lock has one permit. */
declare(strict_types=1);

require_once __DIR__ . '/setting.php';

final class Locks
{
    public readonly Dlock\LockManager|Dlock\Semaphore|Dlock\ReadWriteLock|Dlock\Stock $manager;

    /** @param list<string> $servers DSNs, or one list of ZooKeeper hosts */
    public function __construct(private readonly string $class, array $servers, ?float $ttl = null)
    {
        $ttl ??= Setting::ttls($class)['default'];
        $prefix = Setting::prefix($class);
        $usual = Setting::isOnZooKeeper($class) ? [self::ensemble($servers), $prefix] : [$servers[0], $prefix, $ttl];
        $this->manager = match (Setting::kind($class)) {
            'Lock' => match (Setting::servers($class)) {
                'RedLock' => new RedLock($servers, 100, 20, $prefix, $ttl),
                'ZooKeeper' => new ZkLock(implode(',', $servers), '/locks', Setting::SESSION_TIMEOUT),
                default => new DistributedLock(...$usual),
            },
            'Semaphore' => new Dlock\Semaphore(Setting::capacity($class), ...$usual),
            'ReadWriteLock' => new Dlock\ReadWriteLock(...$usual),
            'Stock' => new Dlock\Stock(...$usual),
        };
    }

    public function acquire(string|array $resource, int $permits, float $timeout, ?float $ttl = null): Dlock\Lease|Pieces
    {
        return $this->call('acquire', $permits, $resource, $timeout, $ttl);
    }

    /**
     * Breaks the lock of one holder, as "dlock break" does. Null: there is no holder, the class has no such call, or it
     * failed.
     */
    public function takeFromHolder(string $resource, callable $choose): ?bool
    {
        $locks = $this->manager instanceof Dlock\ReadWriteLock ? $this->manager->writeLock() : $this->manager;
        if ($locks instanceof Dlock\Stock) {
            return null;
        }
        try {
            $holders = $locks->inspect($resource)->holders;
            return $holders ? Dlock\break_lock($locks, $resource, $choose($holders)->id, 'faults') !== null : null;
        } catch (Dlock\DlockException) {
            return null;
        }
    }

    public function tryAcquire(string|array $resource, int $permits, float $timeout = 0.0, ?float $ttl = null): Dlock\Lease|Pieces|null
    {
        return $this->call('tryAcquire', $permits, $resource, $timeout, $ttl);
    }

    public function synchronized(string|array $resource, int $permits, callable $section, float $timeout, ?float $ttl): mixed
    {
        return $this->manager instanceof Dlock\Semaphore ? $this->manager->synchronized($resource, $section, $permits, $timeout, $ttl)
            : $this->side($permits)->synchronized($resource, $section, $timeout, $ttl);
    }

    public function attach(string $handle, int $permits): Dlock\Lease
    {
        return ($this->manager instanceof Dlock\Semaphore ? $this->manager : $this->side($permits))->attach($handle);
    }

    private function call(string $method, int $permits, string|array $resource, float $timeout, ?float $ttl): Dlock\Lease|Pieces|null
    {
        return match (true) {
            $this->manager instanceof Dlock\Semaphore => $this->manager->$method($resource, $permits, $timeout, $ttl),
            $this->manager instanceof Dlock\Stock => Pieces::reserve($this->manager, $resource, $permits, $timeout, $ttl),
            default => $this->side($permits)->$method($resource, $timeout, $ttl),
        };
    }

    private function side(int $permits): Dlock\LockManager
    {
        return !$this->manager instanceof Dlock\ReadWriteLock ? $this->manager
            : ($permits > 1 ? $this->manager->writeLock() : $this->manager->readLock());
    }

    private static function ensemble(array $servers): string
    {
        return 'zookeeper://' . implode(',', $servers) . '/locks?session_timeout=' . Setting::SESSION_TIMEOUT;
    }
}

/** Units of a stock, with a lease's calls: reserved for a buyer that never buys. */
final class Pieces
{
    private function __construct(private readonly Dlock\Reservation $reservation, public readonly int $fencingToken)
    {
    }

    /** @param int $pieces 0: all units that are not sold; if the stock is sold out, it adds some */
    public static function reserve(Dlock\Stock $stock, string $article, int $pieces, float $timeout, ?float $ttl): self
    {
        $until = nanoseconds() + (int) ($timeout * 1e9);
        $counts = $pieces > 0 ? [] : self::insist($until, fn () => $stock->counts($article));
        if (($counts['available'] ?? 0) + ($counts['reserved'] ?? 0) === 0) {
            self::insist($until, fn () => $stock->restock($article, Setting::PIECES, 'for those who look on'));
            $counts = self::insist($until, fn () => $stock->counts($article));
        }
        $pieces = $pieces ?: $counts['available'] + $counts['reserved'];
        $order = bin2hex(random_bytes(8));
        $reservation = self::insist($until, fn () => $stock->reserve([$article => $pieces], 'one who looks on', $order, max(0.0, ($until - nanoseconds()) / 1e9), $ttl));
        return $reservation ? new self($reservation, $reservation->fencingToken) : throw new Dlock\AcquireTimeoutException("no $pieces pieces of $article");
    }

    /** Repeats the call, as a lock does by itself. Each change has a name here, so it counts once. */
    private static function insist(int $until, callable $ask): mixed
    {
        for (;;) {
            try {
                return $ask();
            } catch (Dlock\ConnectionException $e) {
                nanoseconds() < $until || throw $e;
                usleep(50_000);
            }
        }
    }

    public function isHeld(): bool
    {
        return $this->reservation->remaining() > 0;
    }

    public function release(): bool
    {
        return self::insist(nanoseconds() + (int) (Setting::MARGIN * 1e9), fn () => $this->reservation->cancel());
    }
}
