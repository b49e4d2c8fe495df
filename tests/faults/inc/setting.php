<?php
/* The times and sizes that clients, faults and checker have in common. */
declare(strict_types=1);

final class Setting
{
    /** Of each class: what is locked, and on which servers. */
    private const CLASSES = [
        'DistributedLock' => ['Lock', 'Redis'],
        'RedLock' => ['Lock', 'RedLock'],
        'ZkLock' => ['Lock', 'ZooKeeper'],
        'Memcached' => ['Lock', 'Memcached'],
        'Semaphore' => ['Semaphore', 'Redis'],
        'ReadWriteLock' => ['ReadWriteLock', 'Redis'],
        'Stock' => ['Stock', 'Redis'],
        'ZkSemaphore' => ['Semaphore', 'ZooKeeper'],
        'ZkReadWriteLock' => ['ReadWriteLock', 'ZooKeeper'],
        'Sentinel' => ['Lock', 'Sentinel'],
        'Cluster' => ['Lock', 'Cluster'],
        'SentinelSemaphore' => ['Semaphore', 'Sentinel'],
        'SentinelReadWriteLock' => ['ReadWriteLock', 'Sentinel'],
        'SentinelStock' => ['Stock', 'Sentinel'],
        'ClusterStock' => ['Stock', 'Cluster'],
    ];
    public const RESOURCES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
    public const SESSION_TIMEOUT = 2.0;
    public const LONGEST_TIMEOUT = 10.0;
    /** A grant that nobody takes up is over after this. */
    public const GRANT_OVER = 3.0;
    /** What a busy machine may add to a time. */
    public const MARGIN = 6.0;
    /** Seconds for which clients compete for one lock; and for which they wait. */
    public const CONTEST = 5.0;
    public const CONTEST_TIMEOUT = 60.0;
    /** Of leases that must not be lost; a busy machine may take half of it from them. */
    public const RENEWED_TTL = 3.0;
    /** Of the mean number of turns, what each of those gets that compete for a lock. */
    public const FAIR_SHARE = 0.25;
    /** Turns that another one may get while one waits. */
    public const MOST_TURNS_BEFORE = 20;
    /** Of each competitor, in the mean; with fewer nothing can be told. */
    public const LEAST_TURNS = 8;
    public const PREFIX = 'Lock:';
    /** Pieces that are put into a stock at a time. */
    public const PIECES = 3;
    /** The most pieces of one article for a buyer. */
    public const PER_BUYER = 4;
    /** With replicas, no lock is granted for so long after a fail-over: more than the longest lease time, and than servers' clocks differ. */
    public const GUARD = 2.5;

    /** "Lock", "Semaphore", "ReadWriteLock", "Stock"; null: the class is not known. */
    public static function kind(string $class): ?string
    {
        return self::CLASSES[$class][0] ?? null;
    }

    /** Before names of resources, in keys. In a cluster, stocks are in one slot: some orders are for several. */
    public static function prefix(string $class): string
    {
        return $class === 'ClusterStock' ? '{' . self::PREFIX . '}' : self::PREFIX;
    }

    /** "Redis", one of it; "RedLock", "ZooKeeper", "Memcached", "Sentinel", "Cluster"; null: the class is not known. */
    public static function servers(string $class): ?string
    {
        return self::CLASSES[$class][1] ?? null;
    }

    /** Seconds between two faults, in the mean; of a storm, and of the calm after it. */
    public static function weather(string $class): array
    {
        return match (self::servers($class)) {
            'RedLock' => ['interval' => 0.35, 'storm' => 7.0, 'calm' => 1.5],
            'Sentinel', 'Cluster' => ['interval' => 0.5, 'storm' => 6.0, 'calm' => 5.0], // a fail-over takes some 6 s until locks are granted again
            default => ['interval' => 0.7, 'storm' => 7.0, 'calm' => 1.5],
        };
    }

    /** Lease times in use, in seconds. @return array{shortest: float, longest: float, default: float} default: of leases without one of their own */
    public static function ttls(string $class): array
    {
        return match (self::servers($class)) {
            'Redis' => ['shortest' => 0.3, 'longest' => 4.5, 'default' => 3.2], // shorter and longer than a grant
            'Memcached' => ['shortest' => 4.0, 'longest' => 6.0, 'default' => 4.0],
            default => ['shortest' => 0.3, 'longest' => 2.0, 'default' => 1.5],
        };
    }

    /** A lock that nobody releases is free after this: its lease, or a grant that nobody took up; perhaps not before the guard has passed. */
    public static function leaseOver(string $class): float
    {
        return max(self::ttls($class)['longest'], self::GRANT_OVER) + (self::hasReplicas($class) ? self::GUARD : 0.0);
    }

    public static function hasReplicas(string $class): bool
    {
        return in_array(self::servers($class), ['Sentinel', 'Cluster'], true);
    }

    /** How many permits of a resource there are; of a lock, one. 0: as many as a stock has pieces. */
    public static function capacity(string $class): int
    {
        return match (self::kind($class)) {
            'Semaphore' => 3,
            'ReadWriteLock' => 1_000_000_000, // as the scripts have it: a reader takes one of them, a writer all
            'Stock' => 0,
            default => 1,
        };
    }

    /** How many a client takes of them, with weights. @return array<int, int> */
    public static function permits(string $class): array
    {
        return match (self::kind($class)) {
            'Semaphore' => [1 => 5, 2 => 3, 3 => 2],
            'ReadWriteLock' => [1 => 3, self::capacity($class) => 2],
        };
    }

    /** How many each of those takes that compete at the end. @return list<int> */
    public static function contest(string $class): array
    {
        return match (self::kind($class)) {
            'Semaphore' => [1, 1, 2, 2, 3, 3],
            'Stock' => [2, 2, 2, 2, 2, 2], // who wants more than is free is passed by those who want less
            'ReadWriteLock' => [1, 1, 1, 1, self::capacity($class), self::capacity($class)],
            default => [1, 1, 1, 1, 1, 1],
        };
    }

    /** What clients take; fewer where several may have one, so that they meet. @return list<string> */
    public static function resources(string $class): array
    {
        return self::hasPermits($class) ? array_slice(self::RESOURCES, 0, 3) : self::RESOURCES;
    }

    public static function isOnZooKeeper(string $class): bool
    {
        return self::servers($class) === 'ZooKeeper';
    }

    /** Can a reader become the writer? */
    public static function hasUpgrades(string $class): bool
    {
        return self::kind($class) === 'ReadWriteLock' && !self::isOnZooKeeper($class);
    }

    /** Can several locks be acquired at once? In a cluster each of these names is in a slot of its own. */
    public static function hasSets(string $class): bool
    {
        return self::kind($class) === 'Lock' && in_array(self::servers($class), ['Redis', 'RedLock', 'Sentinel', 'Cluster', 'ZooKeeper'], true);
    }

    public static function hasPermits(string $class): bool
    {
        return self::capacity($class) !== 1;
    }
}
