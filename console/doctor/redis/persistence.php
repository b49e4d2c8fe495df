<?php
/* What a restart forgets. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisServer::class, examine_persistence(...), ['persistence']);

function examine_persistence(RedisServer $server): void
{
    if (!isset($server->info['aof_enabled'])) {
        return;
    }
    if ($server->spec['replicas'] > 0) {
        return; // a restart begins an epoch: nothing is granted until all forgotten leases have ended
    }
    $red = $server->plan->class === 'RedLock';
    if ($red && setting('restart_guard') > 0) {
        return; // it has no vote until all forgotten leases have ended
    }
    $kept = $server->info['aof_enabled'] === '1';
    $sync = $kept ? $server->config('appendfsync') : null;
    if ($server->plan->class === 'Stock') {
        examine_sales($server, $kept, $sync);
    } elseif (!$kept || ($red && $sync !== null && $sync !== 'always')) {
        $server->warning('persistence', $kept ? "may forget the last second (appendfsync $sync), and dlock.restart_guard is 0."
            : 'keeps no log of its changes (appendonly no)' . ($red ? ', and dlock.restart_guard is 0.' : '.'),
            'When it restarts, other processes can acquire locks that are held: two holders at once.', $red
            ? 'Set dlock.restart_guard to the longest lease time, or appendonly yes and appendfsync always.'
            : 'Set appendonly yes and appendfsync always; or keep it down for the longest lease time before it starts again; '
            . 'or use RedLock.');
    } elseif ($sync !== null && $sync !== 'always') {
        $server->note('persistence', "may forget the last second of its data when its host fails (appendfsync $sync).",
            'If it is back within a lease time, another process can acquire a lock that is held.',
            'appendfsync always forgets nothing, and takes longer for each lock.');
    }
}

/** A stock is permanent data, unlike a lock. */
function examine_sales(RedisServer $server, bool $kept, ?string $sync): void
{
    if (!$kept) {
        $server->problem('persistence', 'keeps no log of its changes (appendonly no).',
            'When it restarts, it may have forgotten what was sold and reserved: units are sold again.', 'Set appendonly yes and appendfsync always.');
    } elseif ($sync !== null && $sync !== 'always') {
        $server->warning('persistence', "may forget the last second of its data when its host fails (appendfsync $sync).",
            'Units that were bought in that second are sold again.', 'appendfsync always forgets nothing, and takes longer for each call.');
    }
}
