<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(MemcachedServer::class, examine_memcached_connections(...), ['balancer', 'cas', 'maxclients', 'open']);

function examine_memcached_connections(MemcachedServer $server): void
{
    if (($server->settings['cas_enabled'] ?? 'yes') === 'no') {
        $server->unusable('cas', 'was started with -C, and gives items no CAS.', 'Without it a lock cannot be renewed or released safely.',
            'Start it without -C.');
    }
    $other = (new MemcachedConnection($server->spec))->stats();
    if (($other['pid'] ?? '') !== ($server->stats['pid'] ?? '') || abs((int) ($other['uptime'] ?? 0) - $server->stat('uptime')) > 5) {
        $server->problem('balancer', 'two connections led to two servers.', 'A lock that is held on one is free on the other.',
            'Give the address of one server, not of a balancer.');
    }
    $most = $server->stat('max_connections');
    $now = $server->stat('curr_connections');
    $workers = $server->plan->workers * $server->plan->hosts;
    if ($workers > 0 && $most > 0 && $most < 2 * $workers) {
        $server->plan->report->add($most < $workers ? Severity::Problem : Severity::Warning, 'maxclients', $server->label,
            "takes $most connections (-c), for " . plural($workers, 'worker') . '.',
            'Each worker has up to two (commands, renewal); beyond that they are refused, and locks fail.',
            'Set -c above ' . 2 * $workers . ', and what others need.');
    } elseif ($most > 0 && $now > 0.8 * $most) {
        $server->warning('maxclients', "has $now connections, and takes $most (-c).", 'Beyond that they are refused, and locks fail.', 'Raise -c.');
    }
    $addresses = explode(',', $server->settings['inter'] ?? '127.0.0.1');
    if ($server->spec['path'] === null && preg_grep('/^(127\.|\[?::1|localhost\b)/', $addresses, PREG_GREP_INVERT)) {
        $server->note('open', 'admits everybody who reaches its port.', 'Any host there can acquire and delete locks.',
            'See that only the hosts with locks get there.');
    }
}
