<?php
/* What else makes memcached forget locks that are held. */
declare(strict_types=1);

namespace Dlock\Doctor;

/** The uptime in seconds that a server reports just after its start. */
const MEMCACHED_UPTIME_AT_START = 2;

Subjects::add(MemcachedServer::class, examine_memcached_forgetting(...), ['flush', 'persistence', 'restarted']);

function examine_memcached_forgetting(MemcachedServer $server): void
{
    $server->note('persistence', 'keeps locks in its memory alone.', 'When it is restarted, other processes can acquire locks that are held: two holders at once.',
        'Keep it down for the longest lease time before it starts again; where two holders do harm, use Redis with appendfsync always, RedLock or ZkLock.');
    $uptime = max(0, $server->stat('uptime') - MEMCACHED_UPTIME_AT_START);
    $ttl = $server->plan->ttl;
    if ($uptime < $ttl) {
        $server->warning('restarted', sprintf('was started %d s ago, and leases last up to %s.', $uptime, seconds($ttl)),
            'Holders from before may still believe in locks that it has forgotten.', 'Between a stop and a start wait for the longest lease time.');
    }
    $flushes = $server->stat('cmd_flush');
    if ($flushes > 0 && ($server->settings['flush_enabled'] ?? 'yes') === 'yes') {
        $server->warning('flush', 'was flushed ' . plural($flushes, 'time') . ' since it was started (flush_all).',
            'Each of them has given away all locks.', 'Find out who does that, and start the server with -F, which disables it.');
    }
}
