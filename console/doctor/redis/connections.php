<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisServer::class, examine_connections(...), ['keepalive', 'maxclients', 'open']);

function examine_connections(RedisServer $server): void
{
    $most = (int) ($server->info['maxclients'] ?? $server->config('maxclients') ?? 0);
    $now = (int) ($server->info['connected_clients'] ?? 0);
    $workers = $server->plan->workers * $server->plan->hosts;
    if ($workers > 0 && $most > 0 && $most < 3 * $workers) {
        $server->plan->report->add($most < $workers ? Severity::Problem : Severity::Warning, 'maxclients', $server->label,
            "maxclients is $most, for " . plural($workers, 'worker') . '.',
            'Each worker has up to three connections (commands, waiting, renewal); beyond that '
            . 'they are refused, and locks fail.', 'Set maxclients above ' . 3 * $workers . ', and what others need.');
    } elseif ($most > 0 && $now > 0.8 * $most) {
        $server->warning('maxclients', "has $now connections, and maxclients is $most.",
            'Beyond that they are refused, and locks fail.', 'Raise maxclients.');
    }
    if ($server->config('tcp-keepalive') === '0' && $server->config('timeout') === '0') {
        $server->note('keepalive', 'never closes connections of hosts that vanished (tcp-keepalive 0, timeout 0).',
            'They add up until maxclients is reached.', 'Set tcp-keepalive 300, its default.');
    }
    $bind = array_filter(explode(' ', $server->config('bind') ?? '127.0.0.1'),
        fn ($address) => !preg_match('/^-?(127\.|::1$)/', $address));
    if ($bind && $server->spec['password'] === null && $server->config('protected-mode') === 'no') {
        $server->note('open', 'lets everybody in who reaches its port: no password, and protected-mode is off.',
            'Any host there can acquire and delete locks.',
            'Set a password, or see that only the hosts with locks get there.');
    }
}
