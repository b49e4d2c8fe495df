--TEST--
ZkLock refuses bad arguments with errors that name the argument and what it may be
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$new = 'ZkLock::__construct(): Argument #';
$bad = fn (string $message, mixed ...$arguments) =>
    fails('ValueError', $new . $message, fn () => new ZkLock(...$arguments), shown($arguments));
$host = '127.0.0.1:2181';

// ---- $servers ----
foreach (['', '/chroot'] as $servers) {
    $bad('1 ($servers) must name at least one host*', $servers);
}
foreach ([',', 'h1,', ',h1', 'h1,,h2', ':2181'] as $servers) {
    $bad('1 ($servers) must not contain an empty host', $servers);
}
foreach (['h1:70000', 'h1:65536', 'h1:0', 'h1:-1', 'h1:', 'h1:abc', 'h1:21 81', 'h1:2181,h2:70000', 'h1:2181x/app', '[::1]:70000'] as $servers) {
    $bad('1 ($servers) must *', $servers);
}
$bad('1 ($servers) must have one port after a host, and IPv6 addresses in brackets, as in "[::1]:7000"', '::1:2181');
$bad('1 ($servers) must have a closing ] after the IPv6 address', '[::1');
// Misplaced credentials are not repeated, nor used as a host that messages show.
foreach (['user:pass-word@h1:2181', ':pass-word@h1', 'digest:user:pass-word@h1:2181', 'pass-word@h1:2181', 'h1:2181,pass-word@h2', 'zk://user:pass-word@h1:2181',
    'zk://u:pass-word', 'h1:pass-word', 'user:pass-word/@h1', '[pass-word', 'u:[pass-word:]:x@h1', ['host' => 'pass-word@h1', 'port' => 2181], ['host' => 'user:pass-word@h1']] as $servers) {
    $e = thrown_by(fn () => new ZkLock($servers));
    holds($e instanceof ValueError && str_contains($e->getMessage(), '($servers) must '), 'credentials in ' . shown($servers), $e?->getMessage());
    hides(['pass-word'], (string) $e, 'credentials in ' . shown($servers));
}
$bad('1 ($servers) must be hosts without a scheme, like "zk1:2181,zk2:2181"', 'zk://h1:2181');
$bad('1 ($servers) must not contain "@": credentials are $auth', 'pass-word@h1:2181');
$bad('1 ($servers) must not contain "@": credentials are $auth', 'ann:7/pass-word@h1:2181/x');
foreach (["h1 :2181", "h1\n", "h1\t:1"] as $servers) {
    $bad('1 ($servers) must not contain spaces or control characters', $servers);
}
foreach (["h1\0", "\0", "h1\0:2181", "$host/a\0b"] as $servers) {
    $bad('1 ($servers) must not contain NUL bytes', $servers);
}
foreach (["$host/a/", "$host//a", "$host/a//b", "$host/..", "$host/a/./b", "$host/a\x01b"] as $servers) {
    $bad('1 ($servers) must have a chroot that does not *', $servers);
}
foreach ([['host' => 'h1', 'port' => 70000], ['host' => 'h1', 'port' => '70000'], ['host' => 'h1', 'port' => 0], ['host' => 'h1', 'port' => -1]] as $servers) {
    $bad('1 ($servers) must have a port between 1 and 65535', $servers);
}
$bad('1 ($servers) must not contain an empty host', ['host' => '', 'port' => 2181]);
foreach ([['h1', 2181], ['h1:2181', 'h2:2181'], ['host' => 'h1', 'prot' => 2181], [$host]] as $servers) {
    $bad('1 ($servers) must be "h1:2181,h2:2181/chroot" or an array with host and port', $servers);
}
foreach ([[], ['port' => 2181], ['host' => 1], ['host' => null], ['host' => 'h1', 'port' => '2181x'], ['host' => 'h1', 'port' => ''], ['host' => ['h1'], 'port' => 2181]] as $servers) {
    fails('TypeError', $new . '1 ($servers) must have a string as host and an int as port', fn () => new ZkLock($servers), shown($servers));
}
foreach (["h1\0", "h1\0.example.org", "\0"] as $name) {
    $bad('1 ($servers) must not contain NUL bytes', ['host' => $name]);
    $bad('1 ($servers) must not contain NUL bytes', ['host' => $name, 'port' => 2181]);
}
foreach (['h1/app', 'h1:2181', 'h1:2181,h2'] as $name) { // to which of them would the port belong?
    $bad('1 ($servers) must *', ['host' => $name, 'port' => 2181]);
}
fails('TypeError', $new . '1 ($servers) must be of type array|string, int given', fn () => new ZkLock(2181));

// ---- $root ----
foreach (['', 'locks', 'locks/a', './locks'] as $root) {
    $bad('2 ($root) must start with "/"', $host, $root);
}
foreach (['/locks/' => 'not end with "/"', '//' => 'not contain "//"', '/a//b' => 'not contain "//"', '/a/./b' => '*"."*', '/a/..' => '*".."*', '/..' => '*".."*',
    "/a\nb" => 'not contain control characters', "/a\0b" => 'not contain NUL bytes', '/zookeeper' => 'not be below "/zookeeper"*',
    '/zookeeper/locks' => 'not be below "/zookeeper"*'] as $root => $message) {
    $bad("2 (\$root) must $message", $host, $root);
}

// ---- the other arguments ----
foreach ([0, 0.0, -1, 0.099, NAN, INF, -INF, 86401] as $seconds) {
    $bad('3 ($sessionTimeout) must be between 0.1 and 86400 seconds', $host, '/locks', $seconds);
}
foreach (['', 'user:password', 'digest', 'digest:', 'digest:user', 'digest:user:', 'digest::password', 'world:anyone:x', 'Digest:user:password', 'sasl:user:password'] as $auth) {
    $bad('4 ($auth) must look like "digest:user:password"', $host, '/locks', 10, $auth);
}
$bad('4 ($auth) must not contain NUL bytes', $host, '/locks', 10, "digest:user:pass\0word");
foreach ([-1, -0.001, NAN, INF, 31536001] as $seconds) {
    $bad('5 ($timeout) must be between 0 and 31536000 seconds', $host, '/locks', 10, null, $seconds);
}
foreach (['', 'Flag', 'Throw', 'ignore', "flag\0"] as $loss) {
    $bad('6 ($onLoss) must be either "flag" or "throw"', $host, '/locks', 10, null, 1, $loss);
}

// ---- valid arguments, and no connection yet ----
foreach (['h1', 'h1:1', 'h1:65535', 'h1,h2:2182', 'h1/app', 'h1:2181,h2/a/b', '[::1]', '[::1]:2181/a', ['host' => 'h1'], ['host' => 'h1', 'port' => 2182], ['host' => 'h1:1,h2:2/app']] as $servers) {
    same(null, thrown_by(fn () => new ZkLock($servers, '/é/x', 0.1, 'digest:user:pass:word', 0, 'flag', false))?->getMessage(), shown($servers));
}
same(null, thrown_by(fn () => new ZkLock($host, onLoss: 'throw'))?->getMessage(), 'onLoss: "throw"');
same(0, Dlock\stats()['sessions'], 'sessions opened by constructors');

// ---- methods ----
$lock = new ZkLock(zk_hosts());
foreach (['', str_repeat('x', 1025)] as $resource) {
    foreach (['lock', 'release', 'unlock', 'acquire', 'tryAcquire', 'isLocked'] as $method) {
        fails('ValueError', "ZkLock::$method(): Argument #1 (\$resource) must be between 1 and 1024 bytes long", fn () => $lock->$method($resource));
    }
    fails('ValueError', 'ZkLock::synchronized(): Argument #1 ($resource) must be between 1 and 1024 bytes long', fn () => $lock->synchronized($resource, fn () => 1));
}
foreach ([-1, -0.001, NAN, INF, -INF] as $seconds) {
    fails('ValueError', 'ZkLock::lock(): Argument #2 ($timeout) must be between 0 and 31536000 seconds', fn () => $lock->lock('x', $seconds));
    fails('ValueError', 'ZkLock::acquire(): Argument #2 ($timeout) must be between *', fn () => $lock->acquire('x', $seconds));
    fails('ValueError', 'ZkLock::tryAcquire(): Argument #2 ($timeout) must be between *', fn () => $lock->tryAcquire('x', $seconds));
    fails('ValueError', 'ZkLock::synchronized(): Argument #3 ($timeout) must be between *', fn () => $lock->synchronized('x', fn () => 1, $seconds));
}
foreach ([1.0, 0.0, NAN] as $ttl) {
    fails('ValueError', 'ZkLock::acquire(): Argument #3 ($ttl) must be null*session*', fn () => $lock->acquire('x', 0, $ttl));
    fails('ValueError', 'ZkLock::tryAcquire(): Argument #3 ($ttl) must be null*session*', fn () => $lock->tryAcquire('x', 0, $ttl));
    fails('ValueError', 'ZkLock::synchronized(): Argument #4 ($ttl) must be null*session*', fn () => $lock->synchronized('x', fn () => 1, 0, $ttl));
}
fails('TypeError', 'ZkLock::synchronized(): Argument #2 ($criticalSection) must be a valid callback*', fn () => $lock->synchronized('x', 'no such function'));
same(0, Dlock\stats()['sessions'], 'sessions opened so far');

// ---- handles ----
$handle = (new DistributedLock(redis_server()))->acquire(unique(), 0, 60)->detach();
foreach (['', 'handle', 'dlock1.', 'dlock1.AAAA', "dlock1.\0", substr($handle, 0, -1), $handle] as $text) {
    fails('ValueError', 'ZkLock::attach(): Argument #1 ($handle) must be a handle *', fn () => $lock->attach($text), $text);
}
// A made-up handle, whose digest is right.
$payload = 'zookeeper|1000|0|' . str_repeat('a', 32) . '|x';
$handle = 'dlock1.' . rtrim(strtr(base64_encode(substr(hash('sha256', "dlock1.$payload", true), 0, 16) . $payload), '+/', '-_'), '=');
fails('ValueError', 'ZkLock::attach(): Argument #1 ($handle) must be a handle of a lock that can be handed over, which a ZkLock cannot', fn () => $lock->attach($handle));
same(0, Dlock\stats()['sessions'], 'sessions opened by attach()');
$lease = $lock->acquire(unique(), 0);
fails('Dlock\DlockException', '*ZooKeeper*cannot be handed over*session*', fn () => $lease->detach());
same([true, true], [$lease->isHeld(), $lock->isLocked(unique())], 'the lease after detach() was refused');

// ---- objects ----
fails('Error', '*uncloneable*', fn () => clone $lock);
fails('Exception', "Serialization of 'ZkLock' is not allowed", fn () => serialize($lock));
fails('Error', 'ZkLock::__construct() has been called already', fn () => $lock->__construct());
fails('Error', 'ZkLock::__construct() has not been called', fn () => (new ReflectionClass('ZkLock'))->newInstanceWithoutConstructor()->lock('x'));
same(true, $lease->release(), 'release()');
echo "done\n";
?>
--EXPECT--
done
