<?php
declare(strict_types=1);

namespace Dlock\Doctor;

Subjects::add(RedisServer::class, measure_latency(...), ['slow']);
Subjects::add('redis replica', measure_latency(...), []);

/** Measures round trips, and the server's clock against this host's. */
function compare_clock(RedisServer $server, RedisConnection $connection): void
{
    for ($i = 0; $i < ROUND_TRIPS; $i++) {
        $wall = wall();
        $clock = clock();
        [$whole, $micro] = $connection->items(2, 'TIME');
        $trip = clock() - $clock;
        if (!$server->trips || $trip < min($server->trips)) {
            $server->ahead = (int) $whole + (int) $micro / 1e6 - ($wall + $trip / 2);
            $server->doubt = $trip / 2;
        }
        $server->trips[] = $trip;
    }
}

function measure_latency(RedisServer $server): void
{
    try {
        compare_clock($server, $server->redis);
    } catch (Refusal) {
        return; // rights.php reports the missing right
    }
    $best = min($server->trips);
    $longest = $server->redis->longest;
    $limit = $server->spec['read_timeout'];
    if ($longest > $limit / 4) {
        $server->warning('slow', sprintf('took %s for an answer (at best %s); the read timeout is %s.',
            seconds($longest), seconds($best), seconds($limit)), 'An answer that comes later is given up, and the lock with it.',
            'Find out what makes it slow (SLOWLOG, LATENCY DOCTOR), or raise the read timeout.');
    } elseif ($best > SLOW || $best > $server->plan->ttl / 10) {
        $server->warning('slow', sprintf('round trips take %s at best.', seconds($best)),
            'Each lock takes one, each release another, and a lease is shorter by that time for its holder.',
            'Use a server that is nearer.');
    }
}
