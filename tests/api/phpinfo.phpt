--TEST--
phpinfo() shows the version, the libraries at build and at run time, and the settings, but no password
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.server="redis://user:the-secret@redis.example:6380/2"
dlock.ttl=7
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

function info(): string
{
    ob_start();
    phpinfo(INFO_MODULES);
    return section(ob_get_clean());
}

/** The part of this extension ends at the name of the next module. */
function section(string $text): string
{
    preg_match('/^dlock\n.*?(?=^[\w ]+$(?<!^dlock)|\z)/ms', $text, $found);
    return $found[0] ?? '';
}

$info = info();
$version = preg_quote(Dlock\VERSION, '/');
foreach ([
    '/^dlock support => enabled$/m',
    "/^dlock version => $version$/m",
    '/^hiredis => built with \d+\.\d+\.\d+, running .*hiredis.*$/m',
    '/^TLS \(rediss:\/\/\) => (not in this build|built with OpenSSL .*)$/m',
    '/^ZooKeeper client => (not in this build|built with \d+\.\d+\.\d+, running .*zookeeper.*)$/m',
    '/^dlock\.ttl => 7 => 7$/m',
    '/^dlock\.timeout => 60 => 60$/m',
    '/^dlock\.release_on_shutdown => (On|1) => (On|1)$/m',
    '/^dlock\.server => redis:\/\/redis\.example:6380\/2 \(with password\) => redis:\/\/redis\.example:6380\/2 \(with password\)$/m',
] as $pattern) {
    holds((bool) preg_match($pattern, $info), $pattern, $info);
}
hides(['the-secret'], $info, 'phpinfo()');

// After a change in the script: the local value and the master value, both without a password.
ini_set('dlock.server', 'redis://:other-secret@other.example');
$info = info();
holds(str_contains($info, "\ndlock.server => redis://other.example:6379 (with password) => redis://redis.example:6380/2 (with password)\n"), 'the local value', $info);
hides(['the-secret', 'other-secret'], $info, 'phpinfo()');
ini_set('dlock.server', 'unix:///run/redis.sock');
holds(str_contains(info(), "\ndlock.server => unix:///run/redis.sock => redis://redis.example:6380/2 (with password)\n"), 'a socket', info());

// Every kind of server, in the form of its DSN.
foreach (['sentinel://u:the-secret@s1,[::1]:7/mymaster/2?replicas=2' => 'sentinel://s1:26379,[::1]:7/mymaster/2?replicas=2 (with password)',
    'sentinel://s1/m?sentinel_password=the-secret&guard=3' => 'sentinel://s1:26379/m (with password)', 'sentinel://s1/m?replicas=0' => 'sentinel://s1:26379/m?replicas=0',
    'cluster://:the-secret@h1:7000,h2' => 'cluster://h1:7000,h2:6379 (with password)', 'redis://h/1?replicas=1' => 'redis://h:6379/1?replicas=1',
    'unix:///s?db=1&replicas=1' => 'unix:///s?db=1&replicas=1', 'unix:///s?replicas=1' => 'unix:///s?replicas=1',
    'memcached://h' => 'memcached://h:11211', 'memcached:///run/m' => 'memcached:///run/m', 'memory://a' => 'memory://a'] as $dsn => $shown) {
    holds(ini_set('dlock.server', $dsn) !== false, $dsn);
    $info = info();
    holds(str_contains($info, "\ndlock.server => $shown => "), $dsn, $info);
    hides(['the-secret'], $info, $dsn);
}

// The same on the command line.
$php = escapeshellarg(getenv('TEST_PHP_EXECUTABLE')) . ' ' . php_options() . ' -d dlock.server=redis://:the-secret@h';
$ri = shell_exec("$php --ri dlock");
holds(str_contains($ri, 'h:6379 (with password)'), 'php --ri', $ri);
hides(['the-secret'], $ri, 'php --ri');
echo "done\n";
?>
--EXPECT--
done
