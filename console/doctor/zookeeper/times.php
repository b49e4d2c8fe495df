<?php
/* Latency, and the time that a session outlives its process. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(ZooKeeperServer::class, examine_times(...), ['session-timeout', 'slow', 'ticks']);

function examine_times(ZooKeeperServer $server): void
{
    $best = min($server->trips);
    if ($best > SLOW) {
        $server->warning('slow', 'round trips take ' . seconds($best) . ' at best.',
            'Each lock takes one at least, each release another.',
            'Use an ensemble that is nearer.');
    }
    $tick = (int) ($server->settings['tickTime'] ?? 0) / 1000;
    if ($tick > 0 && $server->timeout < 2 * $tick) {
        $server->problem('ticks',
            sprintf('gives sessions %s, less than two ticks of %s.', seconds($server->timeout), seconds($tick)),
            "The leader may end a session before its holder's time is over: two holders at once.",
            'Set minSessionTimeout to two ticks or more, or tickTime lower.');
    }
    $asked = $server->plan->ttl;
    if (abs($server->timeout - $asked) > 0.001) {
        $server->warning('session-timeout',
            sprintf('gives a session %s where %s are asked for.', seconds($server->timeout), seconds($asked)),
            $server->timeout > $asked ? 'The locks of a process that died stay for so long.'
                : 'A process that pauses for so long loses its locks.',
            'See minSessionTimeout (2 ticks by default) and maxSessionTimeout (20 ticks), or ask for what they allow.');
    }
}
