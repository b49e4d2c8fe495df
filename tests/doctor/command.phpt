--TEST--
The command dlock-doctor: arguments, files of arguments, what it refuses, exit status, colors
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

// It does not run: status 3, the reason on stderr, no other output.
$refuses = function (array $arguments, string $reason) {
    $run = new DoctorRun($arguments);
    same([3, ''], [$run->status, $run->output], $reason);
    holds(fnmatch("dlock-doctor: $reason\n", $run->errors), $reason, $run->errors);
};
$refuses(['--no-such'], 'there is no option --no-such; see --help');
$refuses(['-h'], 'there is no option -h; see --help');
$refuses(['--json=1'], '--json takes no value');
$refuses(['--ttl'], '--ttl needs a value');
$refuses(['--ignore=persistence,backups', redis_server()], '--ignore must be a list of balancer, *; "backups" is none of them');
$refuses(['--ttl=long', redis_server()], '--ttl must be a number, 0.003 or greater');
$refuses(['--ttl', '0', redis_server()], '--ttl must be a number, 0.003 or greater');
$refuses(['--workers=-1', redis_server()], '--workers must be a number, 0 or greater');
$refuses(['--hosts=0', redis_server()], '--hosts must be a number, 1 or greater');
$refuses(['--class=Lock', redis_server()], '--class must be DistributedLock, RedLock, ZkLock, Semaphore, ReadWriteLock or Stock');
$refuses(['--class=DistributedLock', redis_server(0), redis_server(1)], 'DistributedLock takes one SERVER');
$refuses(['h1:2181', 'h2:2181'], 'ZkLock takes one SERVER, with commas between hosts');
$refuses(['{"host": '], 'a server that begins with { must be an array as JSON');
$refuses(['{"port": 1}'], 'DistributedLock::__construct(): Argument #1 ($server) must be a DSN, the list*');
$refuses(['redis://user@host'], 'DistributedLock::__construct(): Argument #1 ($server) must have a password after the user*');
$refuses([redis_server(0), redis_server(0)], 'RedLock::__construct(): Argument #1 ($servers) must name different servers*');
$refuses(['--class=ZkLock', '--auth=secret', 'h1:2181'], 'ZkLock::__construct(): Argument #4 ($auth) must look like "digest:user:password"');
$refuses(['--root=x', 'h1:2181'], 'ZkLock::__construct(): Argument #2 ($root) must start with "/"');
$refuses(['@/no/such/file'], '@/no/such/file cannot be read');
$run = new DoctorRun([], '-d display_startup_errors=0 -d log_errors=0 -d dlock.server=10.0.0.5:6379');
same(3, $run->status, 'a setting that is no server'); // PHP itself has printed that to stderr before
holds(str_ends_with($run->errors, "dlock-doctor: dlock.server must begin with redis://, rediss://, unix://, sentinel://, cluster://, memcached://, memory://, pgsql:// or mysql://, like \"redis://127.0.0.1:6379\"\n"), 'a setting that is no server', $run->errors);
exec(escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' -n ' . escapeshellarg(DOCTOR) . ' 2>&1', $output, $status);
same(3, $status, 'without the extension');
holds(str_contains($output[0] ?? '', 'has not loaded the extension dlock'), 'without the extension', $output);

// Help and version.
$help = new DoctorRun(['--help']);
same(0, $help->status, '--help');
holds(str_starts_with($help->output, 'Usage: dlock-doctor [OPTION …] [SERVER …]'), '--help', $help->output);
foreach (['class', 'prefix', 'root', 'auth', 'ttl', 'workers', 'hosts', 'ignore', 'json'] as $option) {
    holds(str_contains($help->output, "--$option"), "--help tells of --$option");
}
same('dlock-doctor ' . Dlock\VERSION . "\n", (new DoctorRun(['--version']))->output, '--version');

// Arguments in files, so that passwords are not in the list of processes.
$server = redis_private(['requirepass secret', 'appendonly yes', 'appendfsync everysec']);
$dsn = "redis://:secret@{$server->address()}";
$file = "$server->dir/arguments";
file_put_contents($file, "# the shop's locks\n\n  $dsn  \n--ignore=persistence\n");
finds([], ["@$file"], '@FILE');
$run = new DoctorRun(['@-', '--json'], input: "$dsn\n--ttl\n5\n");
same(['persistence'], array_column($run->findings(), 'id'), '@-');
same(['class', 'worst', 'looked', 'findings'], array_keys(json_decode($run->output, true)), 'JSON');
finds([], ['--ignore', 'eviction, persistence,open', $dsn], '--ignore');

// Text: the worst finding first, two lines each, and a summary.
$server->raw();
$redis = new RedisRaw($server->address(), 'secret');
$redis->cmd('CONFIG', 'SET', 'maxmemory', '1gb');
$redis->cmd('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru');
$run = new DoctorRun(['--workers=4000', $dsn], environment: ['NO_COLOR' => '', 'TERM' => 'xterm']);
same(2, $run->status, 'exit status');
$pattern = '/^problem: 127\.0\.0\.1:\d+: evicts .* \[eviction\]\n    .*\nwarning: .* \[maxclients\]\n    .*\nnote: .* \[persistence\]\n    .*\n'
    . '1 problem, 1 warning, 1 note: DistributedLock on 127\.0\.0\.1:\d+, Redis [\d.]+, round trips from .*\.\n$/';
holds((bool) preg_match($pattern, $run->output), 'the text', $run->output);
holds(!str_contains($run->output, "\e["), 'no colours where nobody looks');

// A finding that several servers share is printed once.
$both = array_map(fn (int $i) => "redis://:surplus@" . redis_addresses()[$i], [0, 1]);
$run = new DoctorRun([...$both, '--ignore=few-servers']);
same(1, substr_count($run->output, 'refuses the login'), 'the same of two servers');
holds(str_starts_with($run->output, 'problem: ' . redis_addresses()[0] . ', ' . redis_addresses()[1] . ': refuses'), 'the same of two servers', $run->output);
holds(str_contains($run->output, "\n1 problem, no warnings, no notes: "), 'the same of two servers, counted', $run->output);
same(2, count(doctor([...$both, '--ignore=few-servers'])->findings()), 'the same of two servers, for programs');

// Colors on a terminal, unless the environment refuses them.
$command = escapeshellarg(getenv('TEST_PHP_EXECUTABLE') ?: PHP_BINARY) . ' ' . php_options() . ' ' . escapeshellarg(DOCTOR) . ' ' . escapeshellarg($dsn);
$on_terminal = fn (string $environment) => (string) shell_exec("env $environment script -qec " . escapeshellarg($command) . ' /dev/null < /dev/null');
holds(str_contains($on_terminal('-u NO_COLOR TERM=xterm'), "\e[1;31mproblem\e[0m: "), 'colours on a terminal');
foreach (['NO_COLOR=1 TERM=xterm', '-u NO_COLOR TERM=dumb'] as $environment) {
    $text = $on_terminal($environment);
    holds(str_contains($text, 'problem: ') && !str_contains($text, "\e["), "no colours with $environment", $text);
}
echo "done\n";
?>
--EXPECT--
done
