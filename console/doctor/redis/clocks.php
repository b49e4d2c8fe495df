<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/**
 * Seconds by which clocks may differ; NTP keeps them within thousandths. If replicas confirm, keys outlive leases by as
 * much.
 */
const CLOCKS_APART = 1.0;

Subjects::add(RedisSet::class, examine_clocks(...), ['clocks']);

/**
 * By how much each clock is ahead of this host's, and the possible error: half a round trip.
 * @return array<string, array{float, float}>
 */
function clocks_of(RedisSet $set): array
{
    $clocks = [];
    foreach ($set->servers as $server) {
        if ($server->ahead !== null) {
            $clocks[$server->label] = [$server->ahead, $server->doubt];
            $clocks += $server->spec['discovery'] === 'fixed' && $server->spec['replicas'] > 0 ? clocks_of_replicas($server) : [];
        }
    }
    return $clocks;
}

/** Clocks of replicas that only their master names, without replicas that this host cannot reach. */
function clocks_of_replicas(RedisServer $master): array
{
    $clocks = [];
    foreach ($master->info as $name => $value) {
        if (!preg_match('/^slave\d+$/', $name) || !preg_match('/^ip=([^,]+),port=([1-9]\d*),/', $value, $at)) {
            continue;
        }
        $replica = new RedisServer(server_at($master->spec, $at[1], (int) $at[2]), $master->plan, true);
        try {
            $connection = new RedisConnection($replica->spec);
            $connection->logIn();
            compare_clock($replica, $connection);
        } catch (Trouble | Refusal) {
            continue;
        }
        $clocks[$replica->label] = [$replica->ahead, $replica->doubt];
    }
    return $clocks;
}

/**
 * The clock that is ahead, the one that is behind, the difference, its possible error; null: no two differ by too much.
 * @return array{string, string, float, float}|null
 */
function furthest_apart(array $clocks): ?array
{
    $first = $last = array_key_first($clocks);
    foreach ($clocks as $name => [$ahead]) {
        $first = $ahead < $clocks[$first][0] ? $name : $first;
        $last = $ahead > $clocks[$last][0] ? $name : $last;
    }
    if ($first === $last) {
        return null;
    }
    $apart = $clocks[$last][0] - $clocks[$first][0];
    $doubt = $clocks[$last][1] + $clocks[$first][1];
    return $apart - $doubt > CLOCKS_APART ? [$last, $first, $apart, $doubt] : null;
}

function examine_clocks(RedisSet $set): void
{
    $clocks = clocks_of($set);
    $confirmed = $set->servers && $set->servers[0]->spec['replicas'] > 0;
    $found = $confirmed ? furthest_apart($clocks) : null;
    $why = $found ? 'A new master settles at once only if clocks differ by 1 s at most: after each failover, no lock is granted for the guard. Leases of holders that died end early or late by the difference.'
        : 'A clock that is set forward ends leases early, and fencing tokens go by it where a server lost its data.';
    $found ??= furthest_apart(['this host' => [0.0, 0.0]] + $clocks);
    if ($found) {
        [$last, $first, $apart, $doubt] = $found;
        $set->plan->report->add(Severity::Warning, 'clocks', $last, sprintf('its clock is %s ahead of that of %s, give or take %s.', seconds($apart), $first, seconds($doubt)),
            $why, 'Have all clocks kept by NTP, by slewing.');
    }
}
