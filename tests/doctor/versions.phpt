--TEST--
dlock-doctor fits the extension of its release, and reports versions that are too old
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

$source = implode(array_map(file_get_contents(...), [DOCTOR, ...glob(dirname(DOCTOR, 2) . '/console/doctor/{*,*/*}.php', GLOB_BRACE)]));
/** The constant in the script or in a file of its folder. */
$constant = function (string $name) use ($source): array {
    preg_match("/^const $name = (.*?);$/ms", $source, $found);
    preg_match_all("/'([^']*)'/", $found[1], $values);
    sort($values[1]);
    return $values[1];
};
same([Dlock\VERSION], $constant('VERSION'), 'the version');

// The doctor looks for the commands that the extension sends.
$sorted = function (array $names): array {
    $names = array_unique($names);
    sort($names);
    return $names;
};
$commands = ['locks' => [], 'permits' => []];
foreach (glob(__DIR__ . '/../../src/redis/script/lua/*/*.lua') as $file) {
    if (preg_match('~[/_](break|describe|inspect|note_seen|seen)\.lua$~', $file)) {
        continue; // only inspections need it, not locks
    }
    preg_match_all("/redis\.p?call\('(\w+)'/", file_get_contents($file), $found);
    $found = array_diff(array_map(strtolower(...), $found[1]), ['pexpiretime']); // in place of time
    $commands[preg_match('~^(permits|stock)_~', basename($file)) ? 'permits' : 'locks'][] = $found;
}
$commands = array_map(fn (array $files) => $sorted(array_merge(...$files)), $commands);
$commands['locks'] = array_values(array_diff($commands['locks'], ['zcount', 'zrangebyscore'])); // only for several locks at once
same($commands['locks'], $sorted([...$constant('COMMANDS_IN_SCRIPTS'), ...$constant('CONFIRMING_COMMANDS')]), 'the commands in the scripts');
$of_permits = [...$constant('COMMANDS_IN_PERMITS_SCRIPTS'), ...$constant('CONFIRMING_PERMITS_COMMANDS')];
same([], array_values(array_diff($commands['permits'], $of_permits)), 'the commands in those on permits');
same([], array_values(array_diff($constant('COMMANDS_IN_PERMITS_SCRIPTS'), $commands['permits'])), 'what permits are said to need');
preg_match_all("/\btry\('(\w+)'/", $source, $tried);
same($sorted([...$commands['locks'], ...$of_permits]), $sorted($tried[1]), 'the commands that it tries');

// No server here is that old, so a copy of the doctor requires more.
$demanding = function (string $constant, string $version): string {
    $copy = copied_doctor();
    $files = ["$copy/bin/dlock-doctor", ...glob("$copy/console/doctor/*/*.php")];
    $changed = 0;
    foreach ($files as $file) {
        file_put_contents($file, preg_replace("/^const $constant = '[^']*'/m", "const $constant = '$version'", file_get_contents($file), -1, $count));
        $changed += $count;
    }
    same(1, $changed, $constant);
    return $files[0];
};
$redis = [redis_server(), '--ignore=persistence'];
finds([], $redis, 'Redis');
$texts = finds(['version' => 'problem'], $redis, 'an old Redis', '', $demanding('LEAST_REDIS', '99.0.0'));
holds((bool) preg_match('/is Redis [\d.]+\. .* 99.0.0 or later/', $texts['version'] ?? ''), 'an old Redis', $texts);
$texts = finds(['extension' => 'warning'], $redis, 'another extension', '', $demanding('VERSION', '99.0.0'));
holds(str_contains($texts['extension'] ?? '', 'has dlock ' . Dlock\VERSION . ', and this script is of 99.0.0'), 'another extension', $texts);
$texts = finds(['version' => 'problem'], [...$redis, '--class=Stock'], 'an old Redis for permits', '', $demanding('LEAST_REDIS_OF_PERMITS', '99.0.0'));
holds(str_contains($texts['version'] ?? '', 'The scripts of Dlock\Stock need Redis 99.0.0 or later'), 'an old Redis for permits', $texts);
finds([], $redis, 'the same for locks', '', $demanding('LEAST_REDIS_OF_PERMITS', '99.0.0'));
$zookeeper = [zk_hosts(), '--ignore=standalone'];
finds([], $zookeeper, 'ZkLock');
finds(['version' => 'problem'], $zookeeper, 'an old ZooKeeper', '', $demanding('LEAST_ZOOKEEPER', '99.0.0'));
finds(['containers' => 'warning'], $zookeeper, 'a ZooKeeper without containers', '', $demanding('ZOOKEEPER_WITH_CONTAINERS', '99.0.0'));

// Settings of PHP.
finds(['shutdown' => 'note'], $redis, 'no release at the end', '-d dlock.release_on_shutdown=0');
echo "done\n";
?>
--EXPECT--
done
