<?php
declare(strict_types=1);

namespace Dlock\Doctor;

use Dlock\Console\Misuse;

/** Classes on one Redis server that are not locks, but share scripts, with the prefixes of their keys. */
const OF_PERMITS = ['Semaphore' => 'Semaphore:', 'ReadWriteLock' => 'ReadWriteLock:', 'Stock' => 'Stock:'];

/** What to examine, with what, and what was found. */
final class Plan
{
    public readonly string $class;
    public readonly string $prefix;
    public readonly float $ttl;
    public readonly int $workers;
    public readonly int $hosts;
    /** @var list<string> */
    public readonly array $ignored;
    public readonly \Dlock\LockManager $lock;
    /** The locks to acquire in the end: one; in a cluster, one at each master. @var list<string> */
    public array $resources;
    /** For how long no lock is granted after a failover; null: no guard applies. */
    public ?float $guard = null;
    /** As the extension reads them: see Dlock\describe_server(). @var list<array<string, mixed>> */
    public readonly array $servers;
    public readonly Report $report;

    /** @param array<string, string> $options  @param list<string|array> $servers */
    public function __construct(#[\SensitiveParameter] array $options, #[\SensitiveParameter] array $servers)
    {
        $this->report = new Report();
        $this->resources = ['dlock-doctor:' . bin2hex(random_bytes(8))];
        $this->class = $options['class'] ?? match (true) {
            is_string($servers[0]) && !str_contains($servers[0], '://') => 'ZkLock',
            count($servers) === 1 => 'DistributedLock',
            default => 'RedLock',
        };
        if (!in_array($this->class, ['DistributedLock', 'RedLock', 'ZkLock', ...array_keys(OF_PERMITS)], true)) {
            throw new Misuse('--class must be DistributedLock, RedLock, ZkLock, Semaphore, ReadWriteLock or Stock');
        }
        if (!$this->isOfPermits() && !class_exists("\\$this->class", false)) {
            throw new Misuse("this build of the extension has no $this->class");
        }
        if ($this->class !== 'RedLock' && count($servers) > 1) {
            throw new Misuse("$this->class takes one SERVER" . ($this->class === 'ZkLock' ? ', with commas between hosts' : ''));
        }
        $this->prefix = $options['prefix'] ?? OF_PERMITS[$this->class] ?? ($this->class === 'RedLock' ? '' : 'Lock:');
        $this->ttl = self::number($options, 'ttl', $this->class === 'ZkLock' ? 10 : setting('ttl'), 0.003);
        $this->workers = (int) self::number($options, 'workers', 0, 0);
        $this->hosts = (int) self::number($options, 'hosts', 1, 1);
        $this->ignored = preg_split('/[\s,]+/', $options['ignore'] ?? '', -1, PREG_SPLIT_NO_EMPTY);
        if ($unknown = array_diff($this->ignored, Subjects::findings())) {
            throw new Misuse('--ignore must be a list of ' . implode(', ', Subjects::findings()) . '; "' . current($unknown) . '" is none of them');
        }
        try {
            $this->read($options, $servers);
        } catch (\ValueError | \TypeError $e) {
            throw new Misuse($e->getMessage());
        }
    }

    public function isOfPermits(): bool
    {
        return isset(OF_PERMITS[$this->class]);
    }

    private static function number(array $options, string $name, float $otherwise, float $least): float
    {
        $value = $options[$name] ?? (string) $otherwise;
        if (!is_numeric($value) || !((float) $value >= $least)) {
            throw new Misuse("--$name must be a number, $least or greater");
        }
        return (float) $value;
    }

    /** The class reads the servers first, because its messages name its arguments. */
    private function read(#[\SensitiveParameter] array $options, #[\SensitiveParameter] array $servers): void
    {
        $this->lock = match ($this->class) {
            'DistributedLock', 'Semaphore', 'ReadWriteLock', 'Stock' => $this->makeLock($servers[0], isset($options['ttl']) ? $this->ttl : null),
            'RedLock' => new \RedLock($servers, prefix: $this->prefix),
            'ZkLock' => new \ZkLock($servers[0], $options['root'] ?? '/locks', $this->ttl, $options['auth'] ?? null),
        };
        $this->servers = $this->class === 'ZkLock' ? \Dlock\describe_ensemble($servers[0]) : array_map(\Dlock\describe_server(...), $servers);
    }

    /** The class refuses a lease time above the server's guard. Here that is a finding: see redis/confirmation.php. */
    private function makeLock(#[\SensitiveParameter] string|array $server, ?float $ttl): \Dlock\LockManager
    {
        try {
            $lock = $this->lockWith($server, $ttl);
            $guard = \Dlock\describe_server($server)['guard'];
            $this->guard = $guard === null ? null : max($guard, $this->ttl);
            return $lock;
        } catch (\ValueError $e) {
            if (!str_contains($e->getMessage(), 'no lease time may exceed')) {
                throw $e;
            }
            $this->guard = \Dlock\describe_server($server)['guard'];
            return $this->lockWith($server, $this->guard ?? throw $e);
        }
    }

    /** For permits, a writer's lock: it has the same keys, rights and scripts. */
    private function lockWith(#[\SensitiveParameter] string|array $server, ?float $ttl): \Dlock\LockManager
    {
        return $this->isOfPermits() ? (new \Dlock\ReadWriteLock($server, $this->prefix, $ttl))->writeLock()
            : new \DistributedLock($server, prefix: $this->prefix, ttl: $ttl);
    }

    /**
     * Writes the summary of any back end: the product with the servers' versions, and round trips.
     * @param array<Server> $of
     */
    public function summarise(string $servers, string $product, array $of, string $more = ''): void
    {
        $trips = array_merge(...array_map(fn (Server $server) => $server->trips, array_values($of)));
        $versions = array_unique(array_filter(array_map(fn (Server $server) => $server->version, $of)));
        $this->report->looked = "$this->class on $servers" . ($versions ? ", $product " . implode(' and ', $versions) : '') . $more
            . ($trips ? ', round trips from ' . seconds(min($trips)) . ' to ' . seconds(max($trips)) : '');
    }
}
