<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisServer::class, examine_memory(...), ['eviction', 'memory']);
Subjects::add('redis replica', examine_memory(...), []);

function examine_memory(RedisServer $server): void
{
    $most = (int) ($server->info['maxmemory'] ?? 0);
    $policy = $server->info['maxmemory_policy'] ?? 'noeviction';
    if ($most === 0) {
        return;
    }
    $used = (int) $server->info['used_memory'];
    if ($policy !== 'noeviction') {
        $evicted = (int) ($server->info['evicted_keys'] ?? 0);
        $server->problem('eviction', "evicts keys when its memory is full: maxmemory-policy $policy"
            . ($evicted > 0 ? ", $evicted evicted so far." : '.'),
            (str_starts_with($policy, 'volatile') ? 'This policy evicts keys with a TTL first, and locks have one. ' : '')
            . 'Others can acquire an evicted lock while its holder still relies on it.',
            'Set maxmemory-policy noeviction, or give locks a server of their own.');
    } elseif ($used > $most) { // commands do not show it: Redis refuses no script after its first write
        $server->unusable('memory', 'its memory is full (maxmemory).', 'No lock can be acquired.',
            'Raise maxmemory, or give locks a server of their own.');
    } elseif ($used > 0.9 * $most) {
        $server->warning('memory', sprintf('uses %d %% of its maxmemory.', 100 * $used / $most),
            'When it is full, no lock can be acquired.', 'Raise maxmemory, or give locks a server of their own.');
    }
}
