<?php
/* What a full memory does to locks. */
declare(strict_types=1);

namespace Dlock\Doctor;

/** A share of its limit. A server that evicts uses about 90 %, because there are gaps between items. */
const MEMCACHED_FULL = 0.8;

Subjects::add(MemcachedServer::class, examine_memcached_memory(...), ['eviction', 'memory']);

function examine_memcached_memory(MemcachedServer $server): void
{
    $evicts = ($server->settings['evictions'] ?? 'on') === 'on';
    $evicted = $server->stat('evictions');
    $most = $server->stat('limit_maxbytes');
    if ($evicts && $evicted > 0) {
        $server->problem('eviction', "its memory has been full: $evicted items evicted since it was started.",
            'Others can acquire an evicted lock while its holder still relies on it.',
            'Give locks a memcached of their own, and start it with -M: when its memory is full, it refuses locks.');
    } elseif ($most > 0 && $server->stat('bytes') > MEMCACHED_FULL * $most) {
        $server->warning('memory', sprintf('uses %d %% of its memory.', 100 * $server->stat('bytes') / $most), $evicts
            ? 'When it is full, it evicts items, including locks: others can acquire an evicted lock while its holder still relies on it.'
            : 'When it is full, no lock can be acquired.', 'Give locks a memcached of their own, or more memory (-m).');
    }
}
