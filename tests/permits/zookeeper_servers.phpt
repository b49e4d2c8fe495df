--TEST--
Semaphore and ReadWriteLock accept zookeeper:// as their server; what they refuse of it
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

/** What var_dump() shows, as text. @return array<string, string> */
$shown = function (object $object): array {
    preg_match_all('/^ +\[(\w+)\] => (.*)$/m', print_r($object, true), $found);
    return array_combine($found[1], $found[2]);
};

// Where the nodes are.
$zk = zk_raw();
$hosts = zk_hosts();
foreach (["zookeeper://$hosts" => '/locks', "ZooKeeper://$hosts,$hosts/locks/of%20mine" => '/locks/of mine', "zookeeper://$hosts/?session_timeout=2.5" => ''] as $server => $root) {
    $resource = unique();
    $lease = (new Semaphore(5, $server, 'a/b:'))->acquire($resource, 2);
    same(["_c_$lease->token-2-of-5-"], array_map(fn ($node) => substr($node, 0, -10), zk_nodes($zk, "a%2Fb:$resource", $root)), $server);
    $reader = (new ReadWriteLock($server, ''))->readLock()->acquire($resource);
    same(["_c_$reader->token-__READ__"], array_map(fn ($node) => substr($node, 0, -10), zk_nodes($zk, $resource, $root)), "$server, a reader");
    same(true, $lease->release() && $reader->release(), "$server, release()");
}
within(1.0, (new Semaphore(1, "zookeeper://$hosts?session_timeout=2.5"))->acquire(unique())->remaining(), 2.5, 'remaining()');
same(['servers' => "$hosts/x", 'prefix' => 'Semaphore:', 'timeout' => '3', 'capacity' => '4'], $shown(new Semaphore(4, "zookeeper://$hosts/x", timeout: 3)), 'what is shown');
same(['servers' => "$hosts/x", 'prefix' => 'p', 'timeout' => '3', 'fairness' => 'fifo'], $shown(new ReadWriteLock("zookeeper://u:secret@$hosts/x", 'p', timeout: 3)),
    'readers and writers are served in turn');

// With credentials, only their user can use the nodes.
$resource = unique('closed');
$closed = new Semaphore(3, "zookeeper://ann:s%40cret@$hosts");
$lease = $closed->acquire($resource);
fails(Dlock\ConnectionException::class, '*no right to it without credentials', fn () => (new Semaphore(3, "zookeeper://$hosts"))->acquire($resource, 1, 0));
same([2, true], [(new Semaphore(3, "zookeeper://ann:s@cret@$hosts"))->availablePermits($resource), $lease->release()], 'the same credentials');

// Refused servers.
$refused = [
    'zookeeper://' => 'must name at least one host, like "zk1:2181,zk2:2181"',
    'zookeeper:///locks' => 'must name at least one host, like "zk1:2181,zk2:2181"',
    'zookeeper://h1,,h2' => 'must not contain an empty host',
    'zookeeper://h1:0' => 'must have a port between 1 and 65535',
    'zookeeper://::1:2181' => 'must have one port after a host, and IPv6 addresses in brackets, as in "[::1]:7000"',
    'zookeeper://user@h1' => 'must have a user and a password before the @ (user:password@)',
    'zookeeper://user:@h1' => 'must have a user and a password before the @ (user:password@)',
    'zookeeper://u%3Ax:secret@h1' => 'must have a user without ":"',
    'zookeeper://user:se%zzret@h1' => 'must have each % followed by two hexadecimal digits',
    'zookeeper://ann:7/s3cr3t@h1/a' => 'must have / and ? in a user or password written as %2F and %3F',
    'zookeeper://h1/a//b' => 'must have another root: it must not contain "//"',
    'zookeeper://h1/locks/' => 'must have another root: it must not end with "/"',
    'zookeeper://h1/zookeeper/x' => 'must have another root: it must not be below "/zookeeper", which is the server\'s own',
    'zookeeper://h1?timeout=1' => 'has an unknown option; known is session_timeout',
    'zookeeper://h1?session_timeout=0.05' => 'must have a session_timeout between 0.1 and 86400 seconds',
    'zookeeper://h1?session_timeout=1&session_timeout=x' => 'must have a session_timeout between 0.1 and 86400 seconds',
    "zookeeper://h1\0" => 'must not contain NUL bytes',
];
foreach ($refused as $server => $message) {
    fails(ValueError::class, "Dlock\\Semaphore::__construct(): Argument #2 (\$server) $message", fn () => new Semaphore(3, $server));
    fails(ValueError::class, "Dlock\\ReadWriteLock::__construct(): Argument #1 (\$server) $message", fn () => new ReadWriteLock($server));
}
$session = 'must be null: with ZooKeeper the session is the lease';
fails(ValueError::class, "*Argument #4 (\$ttl) $session", fn () => new Semaphore(3, 'zookeeper://h1', ttl: 10));
fails(ValueError::class, "*Argument #6 (\$renew) $session", fn () => new Semaphore(3, 'zookeeper://h1', renew: true));
fails(ValueError::class, "*Argument #3 (\$ttl) $session", fn () => new ReadWriteLock('zookeeper://h1', ttl: 10));
fails(ValueError::class, "*Argument #5 (\$renew) $session", fn () => new ReadWriteLock('zookeeper://h1', renew: false));
fails(ValueError::class, "*Argument #4 (\$ttl) $session", fn () => (new Semaphore(3, 'zookeeper://h1'))->acquire('x', 1, 0, 3));
fails(ValueError::class, '*Argument #8 ($fairness) must be "fifo", or left out: on ZooKeeper readers and writers are served in the order in which they came',
    fn () => new ReadWriteLock('zookeeper://h1', fairness: 'phase'));
same('fifo', $shown(new ReadWriteLock('zookeeper://h1', fairness: 'fifo'))['fairness'], 'what is true anyway');
$elsewhere = 'must not be ZooKeeper: use ZkLock, Dlock\Semaphore or Dlock\ReadWriteLock';
fails(ValueError::class, "DistributedLock::__construct(): Argument #1 (\$server) $elsewhere", fn () => new DistributedLock('zookeeper://h1'));
fails(ValueError::class, "RedLock::__construct(): Argument #1 (\$servers) element 0 $elsewhere", fn () => new RedLock(['zookeeper://h1']));
echo "done\n";
?>
--EXPECT--
done
