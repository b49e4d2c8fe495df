<?php
/* The times and sizes that clients, faults and checker have in common. */
declare(strict_types=1);

final class Setting
{
    public const RESOURCES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'];
    /** Longest lease time in use, and that of leases without one of their own; in seconds. */
    public const LONGEST_TTL = 2.0;
    public const DEFAULT_TTL = 1.5;
    public const SESSION_TIMEOUT = 2.0;
    public const LONGEST_TIMEOUT = 10.0;
    /** A lock that nobody releases is free after this: its lease, or a grant that nobody took up. */
    public const LEASE_OVER = 3.0;
    /** What a busy machine may add to a time. */
    public const MARGIN = 6.0;
    public const PREFIX = 'Lock:';

    /** @param list<string> $servers DSNs, or one list of ZooKeeper hosts */
    public static function manager(string $class, array $servers, float $ttl = self::DEFAULT_TTL): Dlock\LockManager
    {
        return match ($class) {
            'DistributedLock' => new DistributedLock($servers[0], self::PREFIX, $ttl),
            'RedLock' => new RedLock($servers, 100, 20, self::PREFIX, $ttl),
            'ZkLock' => new ZkLock(implode(',', $servers), '/locks', self::SESSION_TIMEOUT),
        };
    }
}
