<?php
/* What the promise across a failover depends on: how many replicas confirm, among how many servers, and for how long
 * nothing is granted afterwards. */
declare(strict_types=1);

namespace Dlock\Doctor;

/** Seconds from the decision until clients write to the new master, and its replicas follow it. */
const PROMOTION = 2.0;

Subjects::add(RedisServer::class, examine_confirmation(...), ['confirmations', 'few-replicas', 'min-replicas']);
Subjects::add(RedisServer::class, examine_other_guards(...), ['guards-differ']);
Subjects::add(RedisService::class, examine_fail_over(...), ['down-after', 'replicas']);
Subjects::add(RedisServer::class, examine_sales_lost(...), ['uncertain']);
Subjects::add(Plan::class, examine_guard(...), ['guard']);

function examine_guard(Plan $plan): void
{
    $guard = $plan->guard;
    if ($guard !== null && $guard < $plan->ttl) {
        $plan->report->add(Severity::Problem, 'guard', $plan->servers[0]['label'], sprintf('its guard is %s, and leases last up to %s.', seconds($guard), seconds($plan->ttl)),
            'A lease time above the guard is refused: a promoted server would grant locks that it has missed again.', 'Set guard= to the longest lease time, in all programs.');
    }
}

function examine_confirmation(RedisServer $server): void
{
    $needed = $server->spec['replicas'];
    if ($needed === 0 || $server->isReplica || !isset($server->info['connected_slaves'])) {
        return;
    }
    $there = (int) $server->info['connected_slaves'];
    $nodes = max($server->nodes, $there + 1);
    if ($there < $needed) {
        $server->unusable('few-replicas', 'has ' . plural($there, 'replica') . ", and $needed must acknowledge each lock (replicas=$needed).", 'No lock can be acquired.',
            $nodes > 1 + $there ? 'See to the replicas that are not connected.' : 'Add replicas, or say replicas=' . $there . '.');
    } elseif ($there === $needed) {
        $server->warning('few-replicas', 'has ' . plural($there, 'replica') . ($there === 1 ? ', which' : ', all of which') . ' must acknowledge each lock.',
            'While a replica is down, as the old master is after a failover, no lock can be acquired.', 'Add another replica.');
    }
    if (2 * $needed < $nodes - 1) {
        $server->warning('confirmations', "is one of $nodes servers, and $needed " . ($needed === 1 ? 'replica has' : 'replicas have') . " to acknowledge a lock (replicas=$needed).",
            'After a failover there can be two holders: different replicas can acknowledge locks of the old master and of the new one.', 'Set replicas=' . intdiv($nodes, 2) . ', in all programs.');
    }
    if ($there >= $needed && ($server->config('min-replicas-to-write') ?? $server->config('min-slaves-to-write')) === '0') {
        $server->note('min-replicas', 'accepts writes without any replica (min-replicas-to-write 0).',
            'A partitioned master continues to accept writes of other programs. Locks do not depend on it.', 'Set min-replicas-to-write 1 if that suits the other data.');
    }
}

function examine_fail_over(RedisService $service): void
{
    $label = $service->spec['label'];
    if ($service->spec['replicas'] === 0) {
        $service->warning('replicas', $label, 'no replica has to confirm a lock (replicas=0).',
            'A replica that is promoted may not know the latest locks, and two hold the same one.', 'Leave out replicas=0, or have each write checked by its fencing token.');
        return;
    }
    $ttl = $service->plan->ttl;
    if ($service->spec['discovery'] === 'cluster' && $service->masters && $service->masters[0]->usable) {
        $timeout = $service->masters[0]->config('cluster-node-timeout');
        $service->detection = $timeout === null ? null : (int) $timeout / 1000;
        $service->setting = 'cluster-node-timeout';
    }
    if ($service->detection !== null && $service->detection + PROMOTION > $ttl * 2 / 3) {
        $service->warning('down-after', $label,
            sprintf('a master counts as down after %s (%s), and leases last %s.', seconds($service->detection), $service->setting, seconds($ttl)),
            'Leases end before that (two thirds of their time are left at worst): holders lose their locks in a failover. No other process gets them too early.',
            sprintf('Set %s to 2 to 5 s, or the lease time (and guard) to %s or more.', $service->setting, seconds(ceil(($service->detection + PROMOTION) * 1.5))));
    }
}

/**
 * The epoch has the longest guard that any program has used since it began. In a cluster, the epoch of a master's first
 * slot counts, with which those of its other slots settle.
 */
function examine_other_guards(RedisServer $server): void
{
    $guard = $server->plan->guard;
    if ($server->spec['replicas'] === 0 || $guard === null || $server->isReplica) {
        return;
    }
    $tag = $server->slots ? ':{' . tag_of(min(array_column($server->slots, 0))) . '}' : '';
    try {
        $era = $server->redis->cmd('GET', "dlock:era$tag");
    } catch (Refusal) {
        return; // rights.php reports a missing right
    }
    if (is_string($era) && preg_match('/^\w+ (\d{1,15}) /', $era, $found) && $found[1] > round($guard * 1000)) {
        $server->warning('guards-differ', sprintf('a program that locks there has a guard of %s, and this specification one of %s.', seconds($found[1] / 1000), seconds($guard)),
            'A replica that is promoted and has not heard of the longer one grants after the shorter one, while a longer lease may last.',
            sprintf('Set guard=%s in all programs. (One that no program has any more is remembered until the next failover.)', $found[1] / 1000));
    }
}

/**
 * @return iterable<string> the keys in which masters note what they may have forgotten: one; in a cluster, one for each
 * slot with stocks
 */
function lineages(RedisServer $server): iterable
{
    if (!$server->slots) {
        yield 'dlock:era:stocks';
        return;
    }
    for ($cursor = '0', $rounds = 0; $rounds === 0 || ($cursor !== '0' && $rounds < 1000); $rounds++) {
        [$cursor, $keys] = $server->redis->cmd('SCAN', $cursor, 'MATCH', 'dlock:era:{*}:stocks', 'COUNT', 1000);
        yield from $keys;
    }
}

function examine_sales_lost(RedisServer $server): void
{
    if ($server->plan->class !== 'Stock' || $server->spec['replicas'] === 0 || $server->isReplica) {
        return;
    }
    $last = 0;
    try {
        foreach (lineages($server) as $key) {
            $words = explode(' ', (string) $server->redis->cmd('GET', $key));
            $last = max($last, (int) ($words[2] ?? 0));
        }
    } catch (Refusal) {
        return;
    }
    if ($last > 0) {
        $server->warning('uncertain', 'may lack sales that were confirmed before ' . gmdate('Y-m-d H:i:s', intdiv($last, 1000)) . ' UTC: a failover may have lost them.',
            'Units that were sold may be sold again.', 'Compare the stocks with your orders, if you have not done so since. Set replicas= to the number of all replicas.');
    }
}
