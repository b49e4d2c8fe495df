<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('trial', take_a_lock(...), ['rights', 'trial', 'unsettled']);

/** What AcquireTimeoutException says of a server that may have missed what is still locked. */
const UNSETTLED = 'no lock is granted for another';

/** The proof: a lock is taken and released by the extension itself, where nothing found so far keeps that from working. */
function take_a_lock(Plan $plan): void
{
    $failure = null;
    foreach ($plan->report->isHopeless() ? [] : $plan->resources as $resource) {
        $failed = try_a_lock($plan, $resource); // all of them, since that begins an era
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
    // Where the root cannot be made, the node below it seems to disappear.
    $rights = $plan->class === 'ZkLock' && preg_match('/right to it|disappears as soon/', $failure);
    $plan->report->add(Severity::Problem, $rights ? 'rights' : 'trial', implode(', ', array_column($plan->servers, 'label')),
        "a lock cannot be acquired and released: $failure.",
        'An application that uses the same servers fails in the same way.', $rights
        ? 'The root, or where there is none yet the last node above it (see getAcl), has to let these credentials create nodes.'
            : 'The text is what the extension said.');
}

/** Null where all went well. Where the lease has a lease time, a second one waits for the lock as well. */
function try_a_lock(Plan $plan, string $resource): ?string
{
    // Not for longer than in use: RedLock asks that servers be as old as that. memcached has no shorter leases than 4 s.
    $ttl = $plan->servers[0]['backend'] === 'memcached' ? 4.0 : min(5.0, max(1.0, $plan->ttl, setting('restart_guard')));
    $ttl = $plan->guard === null ? $ttl : min($ttl, $plan->guard);
    $wait = $plan->guard === null ? 0 : 0.1; // a slot of a cluster that was never used settles at the second request
    try {
        $lease = $plan->class === 'ZkLock' ? $plan->lock->acquire($resource, 0) : $plan->lock->acquire($resource, $wait, $ttl);
        if ($plan->class !== 'ZkLock' && $plan->lock->tryAcquire($resource, 0.02, $ttl)?->isHeld()) {
            return 'two hold it at once';
        }
        return $lease->release() ? null : 'it was lost at once';
    } catch (\Dlock\QuorumException $e) { // whose message has the reasons as far as there is room
        $reasons = $e->getServerErrors();
        return strtok($e->getMessage(), ':') . ': ' . implode('; ', array_map(fn ($at, $why) => "$at: $why", array_keys($reasons), $reasons));
    } catch (\Dlock\DlockException $e) {
        return $e->getMessage();
    }
}
