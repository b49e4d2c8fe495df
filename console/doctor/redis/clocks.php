<?php
declare(strict_types=1);

namespace Dlock\Doctor;

/** Seconds that clocks may differ by: those that are kept by NTP differ by thousandths. */
const CLOCKS_APART = 1.0;

Subjects::add(RedisSet::class, examine_clocks(...), ['clocks']);

function examine_clocks(RedisSet $set): void
{
    $clocks = ['this host' => [0.0, 0.0]];
    foreach ($set->servers as $server) {
        if ($server->ahead !== null) {
            $clocks[$server->label] = [$server->ahead, $server->doubt];
        }
    }
    $first = $last = 'this host';
    foreach ($clocks as $name => [$ahead, $doubt]) {
        $first = $ahead < $clocks[$first][0] ? $name : $first;
        $last = $ahead > $clocks[$last][0] ? $name : $last;
    }
    $apart = $clocks[$last][0] - $clocks[$first][0];
    if ($apart - $clocks[$last][1] - $clocks[$first][1] > CLOCKS_APART) {
        $set->plan->report->add(Severity::Warning, 'clocks', $last, sprintf('its clock is %s ahead of that of %s.', seconds($apart), $first),
            'A clock that is set forward ends leases early, and fencing tokens go by it where a server lost its data.',
            'Have all clocks kept by NTP, by slewing.');
    }
}
