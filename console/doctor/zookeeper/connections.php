<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(ZooKeeperServer::class, examine_client_connections(...), ['maxclientcnxns']);

function examine_client_connections(ZooKeeperServer $server): void
{
    $most = (int) ($server->settings['maxClientCnxns'] ?? 0);
    $workers = $server->plan->workers;
    if ($most > 0 && $workers > $most) {
        $server->warning('maxclientcnxns',
            "takes $most connections from one host (maxClientCnxns), for " . plural($workers, 'worker') . '.',
            'Each worker has one; when this server gets more than its share, the rest of them cannot lock.',
            'Set maxClientCnxns above the number of workers.');
    }
}
