<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('trial', take_a_lock(...), ['rights', 'trial', 'unsettled']);

/** What AcquireTimeoutException says of a server that may have missed a lock that is held. */
const UNSETTLED = 'no lock is granted for another';

/** The proof: if nothing found so far prevents it, the extension itself acquires and releases a lock. */
function take_a_lock(Plan $plan): void
{
    $failure = null;
    foreach ($plan->report->isHopeless() ? [] : $plan->resources as $resource) {
        $failed = try_a_lock($plan, $resource); // all of them, because each begins an epoch
        $failure ??= $failed;
    }
    if ($failure === null) {
        return;
    }
    if ($plan->guard !== null && str_contains($failure, UNSETTLED)) {
        $plan->report->add(Severity::Warning, 'unsettled', implode(', ', array_column($plan->servers, 'label')), "a lock cannot be acquired yet: $failure.",
            'Locks that it has missed may still be held. Holders keep theirs.', 'Wait, and run this again. If the servers are not new, find out what promoted or restarted one.');
        return;
    }
    // If the root cannot be created, the node below it seems to disappear.
    $rights = $plan->class === 'ZkLock' && preg_match('/right to it|disappears as soon/', $failure);
    $plan->report->add(Severity::Problem, $rights ? 'rights' : 'trial', implode(', ', array_column($plan->servers, 'label')),
        "a lock cannot be acquired and released: $failure.",
        'An application that uses the same servers fails in the same way.', $rights
        ? 'The root, or where there is none yet the last node above it (see getAcl), has to let these credentials create nodes.'
            : 'The text is what the extension said.');
}

/** Null: all went well. Except with ZkLock, a second claim waits for the lock, too. */
function try_a_lock(Plan $plan, string $resource): ?string
{
    // No longer than leases in use, because RedLock's servers must have been up for the time of the lease. memcached
    // has no leases below 4 s.
    $ttl = $plan->servers[0]['backend'] === 'memcached' ? 4.0 : min(5.0, max(1.0, $plan->ttl, setting('restart_guard')));
    $ttl = $plan->guard === null ? $ttl : min($ttl, $plan->guard);
    // A slot of a cluster that was never used settles at the second request.
    $wait = $plan->guard === null ? 0 : 0.1;
    try {
        $lease = $plan->class === 'ZkLock' ? $plan->lock->acquire($resource, 0) : $plan->lock->acquire($resource, $wait, $ttl);
        if ($plan->class !== 'ZkLock' && $plan->lock->tryAcquire($resource, 0.02, $ttl)?->isHeld()) {
            return 'two hold it at once';
        }
        return $lease->release() ? null : 'it was lost at once';
    } catch (\Dlock\QuorumException $e) { // its message may lack some reasons
        $reasons = $e->getServerErrors();
        return strtok($e->getMessage(), ':') . ': ' . implode('; ', array_map(fn ($at, $why) => "$at: $why", array_keys($reasons), $reasons));
    } catch (\Dlock\DlockException $e) {
        return $e->getMessage();
    }
}
