<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisServer::class, examine_replication(...), ['replicas']);

function examine_replication(RedisServer $server): void
{
    $replicas = (int) ($server->info['connected_slaves'] ?? 0);
    $sentinels = 0;
    try {
        $sentinels = $server->redis->cmd('PUBSUB', 'NUMSUB', '__sentinel__:hello')[1];
    } catch (Refusal) {
        $server->unseen[] = 'Sentinels (PUBSUB NUMSUB)';
    }
    if ($replicas > 0 || $sentinels > 0) {
        $server->warning('replicas', 'has ' . plural($replicas, 'replica')
            . ($sentinels > 0 ? ', and ' . plural($sentinels, 'Sentinel')
            . ($sentinels === 1 ? ' watches' : ' watch') . ' over it.' : '.'),
            'Replication is asynchronous: a replica that is promoted does not know the latest locks, and two hold the same one.',
            $server->plan->class === 'RedLock'
            ? 'RedLock needs independent masters without fail-over.'
                : 'Use RedLock over independent servers, or have each write checked by its fencing token.');
    }
}
