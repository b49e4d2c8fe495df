--TEST--
Documentation: the rights in docs/operations.md are exactly the commands that the scripts execute
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
is_dir(dirname(__DIR__, 2) . '/src') || die('skip needs the sources');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/markdown.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/lua.inc';

const LUA = __DIR__ . '/../../src/redis/script/lua';

/** @return list<string> the commands of these scripts, as rules name them, and `besides`, except `without`; sorted */
function commands(array $scripts, array $besides, array $without): array
{
    foreach ($scripts as $script) {
        preg_match_all("/redis\.p?call\('([A-Z]+)'(?:, '([A-Z]+)')?/", script($script), $found, PREG_SET_ORDER);
        foreach ($found as $call) {
            $is_container = in_array($call[1], ['CLUSTER', 'PUBSUB'], true);
            $besides[] = strtolower($call[1] . ($is_container ? "|$call[2]" : ''));
        }
    }
    $commands = array_unique(array_diff($besides, $without));
    sort($commands);
    return $commands;
}

/** @return list<string> the commands in the one place that the pattern finds, sorted */
function listed(string $pattern): array
{
    preg_match_all($pattern, document('docs/operations.md'), $found) === 1 || throw new Error(count($found[0]) . " × $pattern");
    preg_match_all('/\+([\w|]+)/', $found[1][0], $commands);
    sort($commands[1]);
    return $commands[1];
}

// The keys in a script's head, or what it includes, say whether it is for servers that fail over.
$scripts = ['locks' => [], 'permits' => [], 'epochs of locks' => [], 'epochs of permits' => []];
// Scripts that show locks, and what they show: locks work without them.
const LOOKING = ['describe', 'inspect', 'seen', 'permits_inspect', 'break', 'permits_break'];
foreach (glob(LUA . '/*/*.lua') as $file) {
    if (preg_match('/^-- keys: (.*)$/m', file_get_contents($file), $keys)) {
        $name = basename($file, '.lua');
        if (in_array($name, LOOKING, true)) {
            continue;
        }
        $kind = preg_match('/^(permits|stock)_/', $name) ? 'permits' : 'locks';
        $of_epochs = preg_match('/\b(epoch|lineage)\b/', $keys[1]) || preg_match('/^--#include (epoch|settled|attached)\.lua$/m', file_get_contents($file));
        $scripts[$of_epochs ? "epochs of $kind" : $kind][] = $name;
    }
}
holds(min(array_map(count(...), $scripts)) >= 5, 'scripts were found', array_map(count(...), $scripts));

$client = ['eval', 'evalsha', 'subscribe'];
$clock = ['pexpiretime']; // used if +time is refused: the table of services that restrict commands has it
$clock_of_pools = [...$clock, 'set', 'pexpire', 'del'];

$several = ['zcount', 'zrangebyscore'];
$of_several = listed('/^- For several locks at once (add `[^`]*`)/m');
same($several, $of_several, 'several locks');

$locks = listed('/^ACL SETUSER locks on (.*)$/m');
same(commands($scripts['locks'], [...$client, 'exists', 'get'], [...$clock, ...$several]), $locks, 'locks');

$permits = listed('/^- `Dlock\\\\Semaphore`[^;]*? need `(~Semaphore:[^`]*)`/m');
same(commands($scripts['permits'], $client, $clock_of_pools), $permits, 'permits');

$confirmed = listed('/^- If replicas acknowledge locks, (add `[^`]*`; in a\scluster\salso\s`[^`]*`)/m');
$route = ['wait', 'asking', 'cluster|slots', 'cluster|myid'];
same(commands($scripts['epochs of locks'], $route, [...$locks, ...$clock, ...$several]), $confirmed, 'where replicas confirm');

$permits_confirmed = listed('/^- `Dlock\\\\Semaphore`[^;]*; (if replicas acknowledge also\s`[^`]*`, and in a cluster\s`[^`]*`)/m');
// These scripts include code with GETSET, but never execute it: the fencing tokens of pools are in the pool.
same(commands([...$scripts['epochs of permits'], 'epoch_of', 'settle'], ['exists'], [...$permits, ...$confirmed, ...$clock, 'pexpire', 'getset']),
    $permits_confirmed, 'permits, where replicas confirm');

$looking = listed('/^- `inspect\(\)` and the command `dlock` also need `([^`]*)`/m');
same(commands(['inspect', 'seen', 'break'], [], [...$locks, ...$clock, 'zcount']), $looking, 'for those who look at locks');
$of_permits = listed('/^- `inspect\(\)`[^.]*\. To show[^`]*`([^`]*)`/m');
same(commands(['permits_inspect', 'permits_break', 'describe', 'seen'], [], [...$permits, ...$clock]), $of_permits, 'and at permits');

echo "done\n";
?>
--EXPECT--
done
