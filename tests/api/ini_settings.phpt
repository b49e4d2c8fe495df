--TEST--
INI settings have the documented defaults; a wrong value causes a warning that says what it may be
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$defaults = [
    'dlock.connect_timeout' => '1',
    'dlock.describe' => '1',
    'dlock.label' => 'path',
    'dlock.max_hold' => '0',
    'dlock.metrics_names' => '64',
    'dlock.read_timeout' => '1',
    'dlock.release_on_shutdown' => '1',
    'dlock.restart_guard' => '10',
    'dlock.server' => 'redis://127.0.0.1:6379',
    'dlock.shutdown_timeout' => '0.1',
    'dlock.timeout' => '60',
    'dlock.ttl' => '10',
];
// In processes without settings on their command line, because this process may have some.
putenv('TEST_PHP_EXTRA_ARGS=' . preg_replace('/-d "dlock\.[^"]*"/', '', php_options()));
same($defaults, json_decode(php_child('echo json_encode(ini_get_all("dlock", false));')->readAll(), true), 'defaults');
$at_start = ini_get_all('dlock', false);
foreach (ini_get_all('dlock') as $name => ['access' => $access]) {
    same(in_array($name, ['dlock.describe', 'dlock.metrics_names'], true) ? INI_SYSTEM : INI_ALL, $access, "who may change $name");
}

$lease = 'must be a number of seconds between 0.003 and 31536000';
$wait = 'must be a number of seconds between 0 and 31536000';
$io = 'must be a number of seconds between 0.001 and 3600';
$never_seconds = ['', 'x', '-1', '1s', '1 s', '0x1', 'nan', 'inf', '1e400', 'null', '31536001', "1\0"];
$settings = [
    'dlock.max_hold' => [['0', '0.5', '3600', '31536000'], $never_seconds, $wait],
    'dlock.ttl' => [['0.003', '0.5', '5', '31536000', '1e3', ' 5'], [...$never_seconds, '0', '0.0029'], $lease],
    'dlock.timeout' => [['0', '0.5', '5', '31536000'], $never_seconds, $wait],
    'dlock.shutdown_timeout' => [['0', '0.5', '5'], $never_seconds, $wait],
    'dlock.restart_guard' => [['0', '0.5', '3600', '31536000'], $never_seconds, $wait],
    'dlock.connect_timeout' => [['0.001', '0.5', '3600'], [...$never_seconds, '0', '3601'], $io],
    'dlock.read_timeout' => [['0.001', '0.5', '3600'], [...$never_seconds, '0', '3601'], $io],
    'dlock.release_on_shutdown' => [['0', '1', 'On', 'off', 'YES', 'no', 'true', 'False', ''], ['2', 'x', '-1', 'onn', ' 1'], 'must be On or Off'],
    'dlock.label' => [['path', 'script', 'none', 'None', ''], ['x', ' path', 'all'], 'must be path, script or none'],
    'dlock.server' => [['redis://h', 'unix:///x', 'redis://u:p@h:1/2?read_timeout=1', 'sentinel://s1,s2:1/m', 'cluster://h1,h2'], ['h', 'http://h', "redis://h\0"], 'must begin with redis://, rediss://, unix://, sentinel://, cluster://, memcached://, memory://, pgsql:// or mysql://, like "redis://127.0.0.1:6379"'],
];
foreach ($settings as $name => [$good, $bad, $text]) {
    foreach ($good as $value) {
        same(false, ini_set($name, $value) === false, "$name = " . shown($value));
        same($value, ini_get($name), $name);
    }
    $before = ini_get($name);
    foreach ($bad as $value) {
        error_clear_last();
        same(false, @ini_set($name, $value), "$name = " . shown($value));
        $given = $name === 'dlock.server' ? '' : ', "' . explode("\0", $value)[0] . '" given';
        $expected = $value === "redis://h\0" ? "$name must not contain NUL bytes" : "ini_set(): $name $text$given";
        same("ini_set(): " . preg_replace('/^ini_set\(\): /', '', $expected), preg_replace('/^(?!ini_set)/', 'ini_set(): ', error_get_last()['message'] ?? 'no warning'), "the warning of $name = " . shown($value));
        same(E_WARNING, error_get_last()['type'] ?? null, "the level of $name");
        same($before, ini_get($name), "$name after " . shown($value));
    }
    ini_restore($name);
    same($at_start[$name], ini_get($name), "$name restored");
}
foreach (['' => 'must not be empty', 'redis://h:0' => 'must have a port between 1 and 65535', 'redis://' => 'must name a host', 'unix://x' => 'must have an absolute path after unix://'] as $value => $text) {
    same(false, @ini_set('dlock.server', $value), $value);
    holds(str_ends_with(error_get_last()['message'], "dlock.server $text"), "the warning of $value", error_get_last()['message']);
}

// At the start of PHP a wrong value causes a warning, which may go unseen. So the default does not replace it, but no
// lock object is made. For the server see ini_server.phpt.
$start = fn (string $option, string $code) => php_child($code, [strtok($option, '='), redis_server(), unique()],
    '-d display_startup_errors=1 -d html_errors=0 -d ' . escapeshellarg($option))->readAll();
$wrong = ['dlock.ttl=30s' => $lease, 'dlock.timeout=-1' => $wait, 'dlock.max_hold="1 hour"' => $wait, 'dlock.restart_guard=' => $wait,
    'dlock.shutdown_timeout=x' => $wait, 'dlock.connect_timeout=0' => $io, 'dlock.read_timeout=x' => $io,
    'dlock.release_on_shutdown=maybe' => 'must be On or Off'];
foreach ($wrong as $option => $text) {
    $name = strtok($option, '=');
    $output = $start($option, '
        echo ini_get($argv[1]), "\n";
        foreach ([fn () => (new DistributedLock($argv[2]))->acquire($argv[3]), fn () => (new RedLock([$argv[2]], ttl: 5))->acquire($argv[3]),
                fn () => Dlock\describe_server($argv[2])] as $use) {
            try {
                $use();
            } catch (ValueError $e) {
                echo "Error: ", $e->getMessage(), "\n";
            }
        }
        ini_set($argv[1], "1");
        echo (new DistributedLock($argv[2]))->lock($argv[3], 0) ? "locked" : "not locked", "\n";
    ');
    $value = trim(substr($option, strlen($name) + 1), '"');
    $message = preg_quote("$name $text, \"$value\" given", '/');
    $pattern = '/^\s*(PHP )?Warning:\s+(PHP Startup: )?' . $message . ' in Unknown on line 0\s+' . preg_quote($value, '/') . "\n(Error: $message\n){3}locked\s*$/";
    holds((bool) preg_match($pattern, $output), "at the start: $option", $output);
}
$output = $start('dlock.server=nowhere', 'echo ini_get($argv[1]), "\n";');
holds((bool) preg_match('/^\s*(PHP )?Warning:\s+(PHP Startup: )?dlock.server must begin with .* in Unknown on line 0\s+nowhere\s*$/', $output), 'at the start: the server', $output);
echo "done\n";
?>
--EXPECT--
done
