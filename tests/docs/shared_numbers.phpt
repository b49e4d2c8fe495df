--TEST--
Documentation: times and limits that the scripts and the C code share are the same in both
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
is_dir(dirname(__DIR__, 2) . '/src') || die('skip needs the sources');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

/** The number that the pattern's only group finds in a file of src/redis. */
function number_in(string $file, string $pattern): int
{
    $text = file_get_contents(dirname(__DIR__, 2) . "/src/redis/$file");
    preg_match_all($pattern, $text, $found) === 1 || throw new Error("$file: " . count($found[0]) . " × $pattern");
    return (int) $found[1][0];
}

$grant = number_in('script/lua/lock/handover.lua', '/^local GRACE = (\d+)$/m');             // ms
$stale = number_in('script/lua/lock/handover.lua', '/^local STALE = (\d+)$/m') / 1000;      // us to ms
same(1000 * number_in('lock/wait.h', '/^#define DLOCK_GRANT_TTL \((\d+) \* DLOCK_SECOND\)$/m'), $grant, 'how long a grant lasts');
holds($stale <= $grant, 'all waiters that vanished with one are taken for dead when its grant ends', [$stale, $grant]);
$look = number_in('lock/wait.c', '/^#define LOOK_AGAIN \((\d+) \* DLOCK_MS\)$/m') + number_in('lock/wait.c', '/^#define LOOK_AGAIN_JITTER (\d+)/m');
same($look, number_in('script/lua/lock/handover.lua', '/^local LOOK_AGAIN = (\d+)$/m'), 'when a waiter looks again, at the latest');
holds($look < $stale, 'a waiter gives a sign of life before it is taken for dead', [$look, $stale]);

$exact = 1 << number_in('request/requests.h', '/^#define DLOCK_EXACT \(INT64_C\(1\) << (\d+)\)$/m');
same(1 << number_in('request/requests.h', '/^#define DLOCK_MOST_PROPOSED \(INT64_C\(1\) << (\d+)\)/m'),
    number_in('script/lua/shared/fencing.lua', '/^local MOST_PROPOSED = (\d+)$/m'), 'the greatest fencing token that a clock proposes');
same($exact - (1 << number_in('request/requests.h', '/^#define DLOCK_MOST_RAISED \(DLOCK_EXACT - \(INT64_C\(1\) << (\d+)\)\)/m')),
    number_in('script/lua/shared/forged.lua', '/tonumber\(token\) < (\d+)\)/'), 'the one that no server is raised to');
echo "done\n";
?>
--EXPECT--
done
