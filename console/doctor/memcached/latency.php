<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(MemcachedServer::class, measure_memcached_latency(...), ['slow']);

function measure_memcached_latency(MemcachedServer $server): void
{
    for ($i = 0; $i < ROUND_TRIPS; $i++) {
        $start = clock();
        $server->memcached->ask('version');
        $server->trips[] = clock() - $start;
    }
    $best = min($server->trips);
    $longest = $server->memcached->longest;
    $limit = $server->spec['read_timeout'];
    if ($longest > $limit / 4) {
        $server->warning('slow', sprintf('took %s for an answer (at best %s); the read timeout is %s.', seconds($longest), seconds($best), seconds($limit)),
            'An answer that comes later is given up, and the lock with it.', 'Find out what makes it slow, or raise the read timeout.');
    } elseif ($best > SLOW) {
        $server->warning('slow', sprintf('round trips take %s at best.', seconds($best)),
            'Each lock takes one, each release another, and a waiter learns so much later that the lock is free.', 'Use a server that is nearer.');
    }
}
