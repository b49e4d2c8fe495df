<?php
/* The times and sizes that clients, faults and the checker share. */
declare(strict_types=1);

final class Setting
{
    /** For each class: what is locked, and on which servers. */
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
    /** Seconds until an unused grant expires. */
    public const GRANT_OVER = 3.0;
    /** Seconds that a busy machine may add to a time. */
    public const MARGIN = 6.0;
    /** Seconds for which contenders compete for one lock; seconds for which each waits at most. */
    public const CONTEST = 5.0;
    public const CONTEST_TIMEOUT = 60.0;
    /** Lease time of leases that must not be lost; a busy machine may use up half of it. */
    public const RENEWED_TTL = 3.0;
    /** The share of the mean number of turns that each contender gets. */
    public const FAIR_SHARE = 0.25;
    /** Turns that another contender may get while one waits. */
    public const MOST_TURNS_BEFORE = 20;
    /** The mean number of turns of a contender; fewer are too few to judge. */
    public const LEAST_TURNS = 8;
    public const PREFIX = 'Lock:';
    /** Units that are added to a stock at a time. */
    public const PIECES = 3;
    /** The most units of one product for a buyer. */
    public const PER_BUYER = 4;
    /**
     * With replicas, no lock is granted for this time after a failover: longer than the longest lease time, and than
     * servers' clocks differ.
     */
    public const GUARD = 2.5;

    /** "Lock", "Semaphore", "ReadWriteLock", "Stock"; null: the class is unknown. */
    public static function kind(string $class): ?string
    {
        return self::CLASSES[$class][0] ?? null;
    }

    /**
     * Precedes names of resources in keys. In a cluster, all stocks are in one slot, because some orders need several.
     */
    public static function prefix(string $class): string
    {
        return $class === 'ClusterStock' ? '{' . self::PREFIX . '}' : self::PREFIX;
    }

    /** "Redis" (one server), "RedLock", "ZooKeeper", "Memcached", "Sentinel", "Cluster"; null: the class is unknown. */
    public static function servers(string $class): ?string
    {
        return self::CLASSES[$class][1] ?? null;
    }

    /** Seconds: the mean between two faults, a storm, and the calm after it. */
    public static function weather(string $class): array
    {
        return match (self::servers($class)) {
            'RedLock' => ['interval' => 0.35, 'storm' => 7.0, 'calm' => 1.5],
            // After a failover, it takes about 6 s until locks are granted again.
            'Sentinel', 'Cluster' => ['interval' => 0.5, 'storm' => 6.0, 'calm' => 5.0],
            default => ['interval' => 0.7, 'storm' => 7.0, 'calm' => 1.5],
        };
    }

    /**
     * Lease times in use, in seconds; `default` is for leases without a time of their own.
     * @return array{shortest: float, longest: float, default: float}
     */
    public static function ttls(string $class): array
    {
        return match (self::servers($class)) {
            'Redis' => ['shortest' => 0.3, 'longest' => 4.5, 'default' => 3.2], // shorter and longer than a grant
            'Memcached' => ['shortest' => 4.0, 'longest' => 6.0, 'default' => 4.0],
            default => ['shortest' => 0.3, 'longest' => 2.0, 'default' => 1.5],
        };
    }

    /**
     * A lock that is not released is free after this: after its lease, or after an unused grant; with replicas perhaps
     * only after the guard.
     */
    public static function leaseOver(string $class): float
    {
        return max(self::ttls($class)['longest'], self::GRANT_OVER) + (self::hasReplicas($class) ? self::GUARD : 0.0);
    }

    public static function hasReplicas(string $class): bool
    {
        return in_array(self::servers($class), ['Sentinel', 'Cluster'], true);
    }

    /** How many permits a resource has; a lock has one. 0: as many as a stock has units. */
    public static function capacity(string $class): int
    {
        return match (self::kind($class)) {
            'Semaphore' => 3,
            'ReadWriteLock' => 1_000_000_000, // as in the scripts: a reader acquires one permit, a writer all
            'Stock' => 0,
            default => 1,
        };
    }

    /** How many permits a client acquires, with weights. @return array<int, int> */
    public static function permits(string $class): array
    {
        return match (self::kind($class)) {
            'Semaphore' => [1 => 5, 2 => 3, 3 => 2],
            'ReadWriteLock' => [1 => 3, self::capacity($class) => 2],
        };
    }

    /** How many permits each contender acquires in the contest. @return list<int> */
    public static function contest(string $class): array
    {
        return match (self::kind($class)) {
            'Semaphore' => [1, 1, 2, 2, 3, 3],
            'Stock' => [2, 2, 2, 2, 2, 2], // a buyer that wants fewer units passes a buyer that wants too many
            'ReadWriteLock' => [1, 1, 1, 1, self::capacity($class), self::capacity($class)],
            default => [1, 1, 1, 1, 1, 1],
        };
    }

    /** The resources in use; fewer if several clients may hold one, so that they meet. @return list<string> */
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

    /** Can several locks be acquired at once? In a cluster, each of these names is in a slot of its own. */
    public static function hasSets(string $class): bool
    {
        return self::kind($class) === 'Lock' && in_array(self::servers($class), ['Redis', 'RedLock', 'Sentinel', 'Cluster', 'ZooKeeper'], true);
    }

    public static function hasPermits(string $class): bool
    {
        return self::capacity($class) !== 1;
    }
}
