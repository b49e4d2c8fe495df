<?php
/* Servers of a RedLock that have no vote yet, as src/redis/redlock/uptime_rule.c judges them. */
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisSet::class, examine_uptime(...), ['restart-guard', 'restarted']);

function examine_uptime(RedisSet $set): void
{
    $guard = setting('restart_guard');
    if ($set->plan->class !== 'RedLock' || $guard == 0) {
        return;
    }
    if ($guard < $set->plan->ttl) {
        $set->plan->report->add(Severity::Warning, 'restart-guard', 'this PHP',
            sprintf('dlock.restart_guard is %s, and leases last up to %s.', seconds($guard), seconds($set->plan->ttl)),
            'To a process with shorter leases, a server that restarted counts before the longer ones that it has forgotten are over.',
            'Set dlock.restart_guard to the longest lease time.');
    }
    $uptimes = [];
    foreach ($set->servers as $server) {
        if ($server->usable && isset($server->info['uptime_in_seconds'])) {
            $uptimes[$server->label] = (int) $server->info['uptime_in_seconds'];
        }
    }
    $least = max($guard, $set->plan->ttl);
    $early = array_filter($uptimes, fn (int $uptime) => $uptime - 1 < $least);
    if (!$early || (count($uptimes) === count($set->servers) && max($uptimes) - min($uptimes) <= 5)) {
        return;
    }
    $enough = count($uptimes) - count($early) >= $set->quorum;
    $set->plan->report->add($enough ? Severity::Warning : Severity::Problem, 'restarted', implode(', ', array_keys($early)),
        sprintf('up for %d s only; before %g s (dlock.restart_guard, or a longer lease time) a server has no vote.', min($early), $least),
        $enough ? 'Until then fewer of the others may be down.' : 'Until then too few have one, and no lock can be acquired.',
        sprintf('Wait for %d s; between restarts wait for %g s (uptimes are in whole seconds).', ceil($least) + 1 - min($early), $least + 2), !$enough);
}
