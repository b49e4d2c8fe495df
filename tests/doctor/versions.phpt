--TEST--
dlock-doctor fits the extension that it comes with, and tells of versions that are too old
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

$source = file_get_contents(DOCTOR);
/** The constant of the script. */
$constant = function (string $name) use ($source): array {
    preg_match("/^const $name = (.*?);$/ms", $source, $found);
    preg_match_all("/'([^']*)'/", $found[1], $values);
    sort($values[1]);
    return $values[1];
};
same([Dlock\VERSION], $constant('VERSION'), 'the version');

// What it looks for is what the extension does.
$commands = [];
foreach (glob(__DIR__ . '/../../src/redis/lua/*.lua') as $file) {
    preg_match_all("/redis\.p?call\('(\w+)'/", file_get_contents($file), $found);
    $commands = [...$commands, ...array_map(strtolower(...), $found[1])];
}
$commands = array_values(array_unique($commands));
sort($commands);
same($commands, $constant('COMMANDS_IN_SCRIPTS'), 'the commands in the scripts');
preg_match_all("/\btry\('(\w+)'/", $source, $tried);
$tried = array_unique($tried[1]);
sort($tried);
same($commands, $tried, 'the commands that it tries');

// There are no servers here as old as that, so a copy of the script asks for more.
$demanding = function (string $constant, string $version) use ($source): string {
    $file = temporary_directory() . '/dlock-doctor';
    file_put_contents($file, preg_replace("/^const $constant = '[^']*'/m", "const $constant = '$version'", $source, -1, $count));
    same(1, $count, $constant);
    return $file;
};
$redis = [redis_server(), '--ignore=persistence'];
finds([], $redis, 'Redis');
$texts = finds(['version' => 'problem'], $redis, 'an old Redis', '', $demanding('LEAST_REDIS', '99.0.0'));
holds((bool) preg_match('/is Redis [\d.]+\. .* 99.0.0 or later/', $texts['version'] ?? ''), 'an old Redis', $texts);
$texts = finds(['extension' => 'warning'], $redis, 'another extension', '', $demanding('VERSION', '99.0.0'));
holds(str_contains($texts['extension'] ?? '', 'has dlock ' . Dlock\VERSION . ', and this script is of 99.0.0'), 'another extension', $texts);
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
