<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** `dlock switch` adds this to repl-ping-replica-period while writes are paused. */
const NO_PINGS = 1_000_000_000;

Subjects::add(RedisServer::class, examine_replication(...), ['replicas']);
Subjects::add(RedisServer::class, examine_pings(...), ['pings']);
Subjects::add('redis replica', examine_pings(...), []);

function examine_replication(RedisServer $server): void
{
    if ($server->spec['discovery'] !== 'fixed' || $server->spec['replicas'] > 0) {
        return; // see confirmation.php
    }
    $replicas = (int) ($server->info['connected_slaves'] ?? 0);
    $sentinels = 0;
    try {
        $sentinels = (int) $server->redis->items(2, 'PUBSUB', 'NUMSUB', '__sentinel__:hello')[1];
    } catch (Refusal) {
        $server->unseen[] = 'Sentinels (PUBSUB NUMSUB)';
    }
    if ($replicas > 0 || $sentinels > 0) {
        $server->warning('replicas', 'has ' . plural($replicas, 'replica')
            . ($sentinels > 0 ? ', and ' . plural($sentinels, 'Sentinel')
            . ($sentinels === 1 ? ' watches' : ' watch') . ' over it.' : '.'),
            'Replication is asynchronous: a replica that is promoted does not know the latest locks, and two hold the same one.',
            $server->plan->class === 'RedLock'
            ? 'RedLock needs independent masters without failover.'
                : 'Have replicas confirm each lock: ' . ($sentinels > 0 ? 'sentinel://… with the Sentinels, or, where the address follows the master, ' : 'where the address follows the master, ')
                . 'replicas=' . max(1, intdiv($replicas + 1, 2)) . ' in the specification. Or use RedLock over independent servers.');
    }
}

function examine_pings(RedisServer $server): void
{
    if ($server->spec['discovery'] === 'fixed' && $server->spec['replicas'] === 0) {
        return;
    }
    $period = (int) $server->config('repl-ping-replica-period');
    if ($period > NO_PINGS) {
        $server->warning('pings', 'sends no pings to its replicas: a dlock switch was killed.', 'While nothing is written, replicas disconnect and connect again and again.',
            'Run dlock switch again, or CONFIG SET repl-ping-replica-period ' . $period - NO_PINGS . '.');
    }
}
