--TEST--
dlock-doctor names what a login or a user lacks: password, database, each command, key and channel; it shows no password
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';

const SECRET = 'p@ss:w/rd?';
$server = redis_private(['requirepass only-the-default-user', 'appendonly yes', 'appendfsync always']);
$redis = new RedisRaw($server->address(), 'only-the-default-user');
$redis->cmd('ACL', 'SETUSER', 'app', 'on', '>' . SECRET, '~*', '&*', '+@all');
$dsn = fn (string $credentials, string $rest = '') => "redis://$credentials{$server->address()}$rest";
$good = 'app:' . rawurlencode(SECRET) . '@';

// Every form of the specification.
$json = fn (array $spec) => json_encode($spec, JSON_THROW_ON_ERROR);
$array = ['host' => '127.0.0.1', 'port' => $server->port];
foreach ([$dsn($good), $dsn(str_replace('%40', '@', $good)), $dsn($good, '/3'), $dsn($good, '?db=3&read_timeout=5'), $dsn(':only-the-default-user@'), $json($array + ['auth' => ['app', SECRET]]),
    $json($array + ['auth' => ['user' => 'app', 'pass' => SECRET], 'database' => 2]), $json($array + ['auth' => 'only-the-default-user', 'ssl' => false]),
    $json($array + ['auth' => ['only-the-default-user'], 'connectTimeout' => 2.5, 'readTimeout' => 0])] as $spec) {
    finds([], [$spec], $spec);
}
// Every reason to be refused.
foreach ([
    'a wrong password' => ['password', $dsn('app:wrong-' . rawurlencode(SECRET) . '@')], 'a wrong user' => ['password', $dsn('nobody:' . rawurlencode(SECRET) . '@')],
    'no password' => ['password', $dsn('')], 'no password, as a list' => ['password', $json(['127.0.0.1', $server->port, 0.5])],
    'no such database' => ['refuses', $dsn($good, '/99')],
] as $what => [$id, $spec]) {
    finds([$id => 'problem'], [$spec], $what);
    $run = new DoctorRun([$spec]);
    foreach ([SECRET, rawurlencode(SECRET), 'only-the-default'] as $secret) {
        holds(!str_contains($run->output . $run->errors, $secret), "$what: no password is shown", $run->output);
    }
}
finds(['password' => 'problem'], ['redis://:surplus@' . redis_addresses()[0]], 'a password where none is wanted');

// The doctor notices each missing right, and names it.
$commands = ['evalsha', 'eval', 'set', 'get', 'getset', 'incr', 'del', 'exists', 'pexpire', 'pttl', 'time', 'zadd', 'zrem', 'zpopmin', 'zrange', 'zrank', 'zscore', 'hset',
    'hget', 'hdel', 'publish', 'subscribe'];
$rules = ['~Lock:*', '~dlock:*', '&dlock:inbox:*', ...array_map(fn ($command) => "+$command", $commands)];
$lacking = function (array $without, array $expected, string $lacks, array $arguments = [], string $rest = '') use ($redis, &$rules, $dsn) {
    $redis->cmd('ACL', 'SETUSER', 'locks', 'reset', 'on', '>secret', ...array_diff([...$rules, '+info', '+config|get', '+pubsub|numsub', '+select'], $without));
    $texts = finds($expected, [$dsn('locks:secret@', $rest), ...$arguments], 'without ' . implode(' ', $without));
    holds($lacks === '' || str_contains($texts['rights'] ?? '', $lacks), 'without ' . implode(' ', $without), $texts);
    $others = fn () => array_diff(what_stays($redis), ['dlock:fence']);
    holds(!$others() || wait_for(fn () => !$others(), 60, 'the keys to be gone'), 'nothing stays');
};
$lacking([], [], '');
foreach ($commands as $command) {
    $lacking(["+$command"], ['rights' => in_array($command, ['publish', 'subscribe']) ? 'warning' : 'problem'], "no right to $command" . ($command === 'del' ? ', perhaps set, getset, incr, zadd, hset (not tried without del)' : '') . '. ');
}
$lacking(['~Lock:*'], ['rights' => 'problem'], 'no right to the keys Lock:*. ');
$lacking(['~dlock:*'], ['rights' => 'problem'], 'no right to the key dlock:fence, the keys dlock:queue:*, the keys dlock:waiters:*. ');
$lacking(['&dlock:inbox:*'], ['rights' => 'warning'], 'no right to the channels dlock:inbox:*. ');
$lacking(['+publish', '+subscribe'], ['rights' => 'warning'], 'no right to publish, subscribe. ');
if ($redis->cmd('COMMAND', 'INFO', 'pexpiretime')[0]) { // Redis 7
    $rules[] = '+pexpiretime';
    $lacking(['+time'], ['rights' => 'warning'], 'no right to time, only to pexpiretime. ');
    $lacking(['+time', '+zadd'], ['rights' => 'problem'], 'no right to zadd. ');
    array_pop($rules);
}
$lacking(['+zadd', '+hset', '&dlock:inbox:*'], ['rights' => 'problem'], 'no right to the channels dlock:inbox:*, zadd, hset. ');
$lacking([], ['rights' => 'problem'], 'no right to the keys other:*', ['--prefix=other:']);
$lacking(['+select'], ['rights' => 'problem'], '+select', [], '/2');
$lacking(['+info'], ['unseen' => 'note'], '');
$lacking(['+config|get'], ['unseen' => 'note'], '');
$lacking(['+pubsub|numsub'], ['unseen' => 'note'], '');
$lacking(['+info'], ['few-servers' => 'warning', 'rights' => 'problem', 'unseen' => 'note'], '+info', ['--class=RedLock', '--prefix=Lock:']);

// Permits are in one key, and need other commands.
foreach (['Semaphore', 'ReadWriteLock', 'Stock'] as $class) {
    finds([], [$dsn($good), "--class=$class"], $class);
}
$commands = ['pexpireat', 'persist', 'pttl', 'time', 'zadd', 'zcount', 'zincrby', 'zmscore', 'zrangebyscore', 'zrem', 'zscore', 'evalsha', 'eval', 'publish', 'subscribe'];
preg_match('/`(~Semaphore:\*\s[^`]*)`/', file_get_contents(__DIR__ . '/../../docs/operations.md'), $listed);
$rules = preg_split('/\s+/', $listed[1]);
same([], array_values(array_diff($rules, ['~Semaphore:*', '~ReadWriteLock:*', '~Stock:*', '&dlock:inbox:*', '+pubsub|numsub'],
    array_map(fn ($command) => "+$command", $commands))), 'what docs/operations.md lists is tried');
$permits = function (array $without, array $expected, string $lacks, array $arguments = ['--class=Stock']) use ($redis, $rules, $dsn) {
    $redis->cmd('ACL', 'SETUSER', 'permits', 'reset', 'on', '>secret', ...array_diff([...$rules, '+info', '+config|get', '+select'], $without));
    $texts = finds($expected, [$dsn('permits:secret@'), ...$arguments], 'permits without ' . implode(' ', $without));
    holds($lacks === '' || str_contains($texts['rights'] ?? '', $lacks), 'permits without ' . implode(' ', $without), $texts);
};
$permits([], [], '');
foreach ($commands as $command) {
    $permits(["+$command"], ['rights' => in_array($command, ['publish', 'subscribe']) ? 'warning' : 'problem'],
        "no right to $command" . ($command === 'zrem' ? ', perhaps zadd, zincrby (not tried without zrem)' : '') . '. ');
}
$permits(['~Stock:*'], ['rights' => 'problem'], 'no right to the keys Stock:*. ');
$permits(['&dlock:inbox:*'], ['rights' => 'warning'], 'no right to the channels dlock:inbox:*. ');
$permits(['~Semaphore:*'], ['rights' => 'problem'], 'no right to the keys Semaphore:*', ['--class=Semaphore']);
$permits([], [], '', ['--class=Semaphore', '--prefix=Stock:']);
if ($redis->cmd('COMMAND', 'INFO', 'pexpiretime')[0]) { // Redis 7 has rights to single subcommands
    $permits(['+pubsub|numsub'], ['rights' => 'warning', 'unseen' => 'note'], 'no right to pubsub|numsub in scripts. ');
}

// Commands that the server does not have.
foreach (['EVALSHA' => 'problem', 'GETSET' => 'problem', 'SUBSCRIBE' => 'warning'] as $command => $severity) {
    $without = redis_private(["rename-command $command \"\"", 'appendonly yes', 'appendfsync always']);
    $texts = finds(['rights' => $severity], [$without->dsn()], "renamed $command");
    holds(str_contains($texts['rights'] ?? '', 'no right to ' . strtolower($command) . '. '), "renamed $command", $texts);
}
echo "done\n";
?>
--EXPECT--
done
