<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add('memcached', examine_memcached(...), ['refuses', 'unreachable', 'version']);

function examine_memcached(Plan $plan): void
{
    $servers = array_map(fn (array $spec) => new MemcachedServer($spec, $plan), $plan->servers);
    foreach ($servers as $server) {
        $server->examine();
    }
    $plan->summarise($servers[0]->label, 'memcached', $servers); // DistributedLock has one server
}
