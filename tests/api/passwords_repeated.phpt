--TEST--
No message has a password that a server repeats in an error: at the login, to a command, to SUBSCRIBE, to INFO
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

/* A server words its errors without regard to the password. So here the passwords are words of those errors. */

/** The message does not show the server's error, but says which server it is, and what can be done. */
$hides = function (string $what, string $secret, ?Throwable $e, string $also = '') {
    holds($e instanceof Dlock\ConnectionException, "$what: a ConnectionException", $e);
    $texts = [(string) $e?->getMessage(), ...array_values($e instanceof Dlock\QuorumException ? $e->getServerErrors() : [])];
    hides([$secret], implode("\n", $texts), $what);
    holds(str_contains($texts[0], 'not shown') && str_contains($texts[0], $also), "$what: the message", $texts[0]);
};
$server = redis_private();
$raw = $server->raw();

// ---- the login ----
$said = ['username-password', 'WRONGPASS', 'WRONGPASS invalid username-password pair or user is disabled.', 'pair or user'];
foreach ($said as $secret) {
    foreach ([$secret, ['locks', $secret]] as $auth) {
        $raw->cmd('CONFIG', 'SET', 'requirepass', 'something else');
        $e = thrown_by(fn () => (new DistributedLock(['host' => '127.0.0.1', 'port' => $server->port, 'auth' => $auth]))->acquire('x', 0));
        $hides("login with $secret", $secret, $e, $secret === 'WRONGPASS' ? '' : 'WRONGPASS: ');
    }
}
$raw->cmd('CONFIG', 'SET', 'requirepass', '');
foreach (['<password>', 'AUTH <password>', 'called without'] as $secret) {
    $e = thrown_by(fn () => (new DistributedLock(['host' => '127.0.0.1', 'port' => $server->port, 'auth' => $secret]))->acquire('x', 0));
    $hides("login with $secret", $secret, $e);
}
// dlock cuts what a server repeats, and writes it on one line.
foreach (["two\nlines", "two\r\nlines", str_repeat('long', 100), ", with args", "unknown command"] as $secret) {
    $ignorant = redis_private(['rename-command AUTH ""']);
    $e = thrown_by(fn () => (new DistributedLock(['host' => '127.0.0.1', 'port' => $ignorant->port, 'auth' => $secret]))->acquire('x', 0));
    same(Dlock\ConnectionException::class, get_debug_type($e), 'a server without AUTH');
    hides([$secret, substr(strtr($secret, "\r\n", '  '), 0, 9)], (string) $e?->getMessage(), 'login with ' . json_encode(substr($secret, 0, 20)));
}

// ---- a command ----
$login = function (string $secret, string ...$rules) use ($raw, $server): string {
    $raw->cmd('ACL', 'SETUSER', 'locks', 'reset', 'on', ">$secret", '~*', '&*', '+@all', ...$rules);
    return 'redis://locks:' . rawurlencode($secret) . "@127.0.0.1:$server->port";
};
$lock = new DistributedLock($login('permissions', '-evalsha', '-exists'));
$hides('EVALSHA', 'permissions', thrown_by(fn () => $lock->acquire('x', 0)), 'the user needs the commands, and the keys by their prefix, that docs/operations.md lists');
$hides('EXISTS', 'permissions', thrown_by(fn () => $lock->isLocked('x')), 'the user needs');
$red = new RedLock([$login('permissions', '-evalsha', '-get')]);
$hides('RedLock', 'permissions', thrown_by(fn () => $red->acquire('x', 0)), 'the user needs');
$hides('RedLock::isLocked()', 'permissions', thrown_by(fn () => $red->isLocked('x')), 'the user needs');
$lock = new DistributedLock($login('Operation against'), '');
$raw->cmd('RPUSH', 'list', 'element');
$hides('WRONGTYPE', 'Operation against', thrown_by(fn () => $lock->acquire('list', 0)), 'the key is used for something else than a lock');
// Redis repeats a command that it does not know, with its arguments: the tokens of locks.
$ignorant = redis_private(['rename-command EVALSHA ""', 'rename-command EXISTS ""']);
$lock = new DistributedLock($ignorant->dsn());
$e = thrown_by(fn () => $lock->acquire('x', 0));
same("Redis at {$ignorant->address()}: ERR unknown command 'EVALSHA'; if it is a Sentinel, use sentinel://host:port/service", $e?->getMessage(), 'what is unknown, without its arguments');

// ---- INFO ----
$dsn = $login('permissions', '-info') . '?read_timeout=5'; // over another connection, which has not asked yet
$hides('INFO', 'permissions', thrown_by(fn () => (new RedLock([$dsn]))->acquire('x', 0)), 'give the user +info');

// ---- errors that repeat no password are shown ----
$e = thrown_by(fn () => (new DistributedLock($login('else', '-evalsha')))->acquire('x', 0));
holds(str_contains((string) $e?->getMessage(), 'NOPERM'), 'another message', $e?->getMessage());
echo "done\n";
?>
--EXPECT--
done
