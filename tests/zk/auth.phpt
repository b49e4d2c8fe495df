--TEST--
ZkLock with digest auth: only the user can change its nodes, other users wait or get an error, and no secret is shown
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

ini_set('zend.exception_ignore_args', '0');
$zk = zk_raw();
$root = '/' . unique();
$secret = 'S3cret:pass' . bin2hex(random_bytes(4));
$auth = "digest:alice:$secret";
$alice = new ZkLock(zk_hosts(), $root, auth: $auth);
$bob = new ZkLock(zk_hosts(), $root, auth: 'digest:bob:other');
$wrong = new ZkLock(zk_hosts(), $root, auth: 'digest:alice:wrong');
$nobody = new ZkLock(zk_hosts(), $root);

// ---- nodes of the user ----
$lease = $alice->acquire('own', 0);
$id = 'alice:' . base64_encode(sha1("alice:$secret", true));
foreach (["$root/own", "$root/own/_c_$lease->token-lock-0000000000"] as $path) {
    $raw = zk_raw();
    same(ZkError::NO_AUTH, thrown_by(fn () => $raw->getData($path))?->getCode(), "getData() of $path without credentials");
    same(ZkError::NO_AUTH, thrown_by(fn () => $raw->setData($path, 'x'))?->getCode(), "setData() of $path without credentials");
    $raw->auth('digest', 'bob:other');
    same(ZkError::NO_AUTH, thrown_by(fn () => $raw->getData($path))?->getCode(), "getData() of $path as another user");
    $raw->auth('digest', "alice:$secret");
    same(str_contains($path, 'lock-') ? gethostname() . ' auth.php' : '', $raw->getData($path), "getData() of $path as the user");
    same([['perms' => 31, 'scheme' => 'digest', 'id' => $id]], $raw->getAcl($path), "access to $path");
    $raw->close();
}
// Others can read it, and create and delete nodes in it; they see no hash of a password.
same([['perms' => 31, 'scheme' => 'digest', 'id' => 'alice:x'], ['perms' => 1 | 4 | 8, 'scheme' => 'world', 'id' => 'anyone']], $zk->getAcl($root), 'access to the root');
same(ZkError::NO_AUTH, thrown_by(fn () => $zk->setAcl($root, [['perms' => 31, 'scheme' => 'world', 'id' => 'anyone']]))?->getCode(), 'setAcl() of the root without credentials');
same(ZkError::NO_AUTH, thrown_by(fn () => $zk->getChildren("$root/own"))?->getCode(), 'getChildren() without credentials');
same(ZkError::NO_AUTH, thrown_by(fn () => $zk->delete("$root/own/_c_$lease->token-lock-0000000000"))?->getCode(), 'delete() without credentials');
foreach (['bob' => $bob, 'wrong' => $wrong, 'nobody' => $nobody] as $name => $lock) {
    fails('Dlock\ConnectionException', "ZooKeeper at *$root/own: *credentials*", fn () => $lock->lock('own', 0), "lock() by $name");
    fails('Dlock\ConnectionException', '*right*', fn () => $lock->acquire('own', 0), "acquire() by $name");
    fails('Dlock\ConnectionException', '*right*', fn () => $lock->isLocked('own'), "isLocked() by $name");
}
same(true, $alice->isLocked('own'), 'isLocked()');
same(null, (new ZkLock(zk_hosts(), $root, auth: $auth))->tryAcquire('own'), 'the user in another object');
same(false, fork_child(fn () => (new ZkLock(zk_hosts(), $root, auth: $auth))->lock('own', 0))->result(), 'the user in another process');
same(true, $lease->release(), 'release()');
same(1, (int) fork_child(function () use ($root, $auth) {
    $lock = new ZkLock(zk_hosts(), $root, auth: $auth);
    return $lock->lock('own', 10) && $lock->release('own');
})->result(), 'the user in another process');

// ---- a root that cannot be created ----
$zk->create("$root/hers");
$raw = zk_raw();
$raw->auth('digest', "alice:$secret");
$raw->setAcl("$root/hers", [['perms' => 31, 'scheme' => 'auth', 'id' => '']]);
$raw->close();
fails('Dlock\ConnectionException', "ZooKeeper at *: $root/hers/locks: there is no right to it without credentials",
    fn () => (new ZkLock(zk_hosts(), "$root/hers/locks"))->acquire('x', 0), 'acquire() below a node of another user');

// ---- below a node that is open to all, users compete that cannot read each other's nodes ----
$users = ['alice' => $auth, 'bob' => 'digest:bob:other', 'nobody' => null];
foreach ($users as $name => $holder_auth) {
    $resource = "open-$name";
    $zk->create("$root/$resource");
    $holder = new ZkLock(zk_hosts(), $root, auth: $holder_auth);
    $held = $holder->acquire($resource, 0);
    $waiters = [];
    foreach ($users as $other => $other_auth) {
        $lock = new ZkLock(zk_hosts(), $root, auth: $other_auth);
        same(false, $lock->lock($resource, 0), "lock() by $other of what $name holds");
        same(true, $lock->isLocked($resource), "isLocked() by $other of what $name holds");
        wait_for_nodes($zk, count($waiters) + 1, $resource, $root);
        $waiters[] = fork_child(function (callable $say, callable $hear) use ($root, $resource, $other_auth) {
            $lock = new ZkLock(zk_hosts(), $root, auth: $other_auth);
            $got = $lock->lock($resource, 60);
            $say('held');
            $hear();
            return $got && $lock->release($resource);
        });
        wait_for_nodes($zk, count($waiters) + 1, $resource, $root);
    }
    same(true, $held->release(), "release() by $name");
    foreach ($waiters as $i => $waiter) { // in their order
        same('held', $waiter->hear(), "waiter $i after $name");
        same(count($waiters) - $i, count(zk_nodes($zk, $resource, $root)), "nodes with waiter $i after $name");
        $waiter->say('release');
        same(true, $waiter->result(), "waiter $i after $name");
    }
}

// ---- secrets ----
$lease = $alice->acquire('own', 10);
$shown = '';
$texts = function (#[SensitiveParameter] callable $do) use (&$shown) {
    $e = thrown_by($do);
    holds($e !== null, 'something is thrown');
    $shown .= $e . var_export($e?->getTrace(), true);
    ob_start();
    var_dump($e);
    $shown .= ob_get_clean();
};
$texts(fn () => new ZkLock('127.0.0.1:70000', '/locks', 10.0, "digest:alice:$secret"));
$texts(fn () => new ZkLock('127.0.0.1:1', 'locks', 10.0, "digest:alice:$secret"));
$texts(fn () => new ZkLock('127.0.0.1:1', '/locks', 10.0, "alice:$secret"));
$texts(fn () => new ZkLock('127.0.0.1:1', '/locks', 0.0, auth: "digest:alice:$secret"));
$texts(fn () => $alice->attach($secret));
$texts(fn () => (new ZkLock('127.0.0.1:' . closed_port(), sessionTimeout: 0.3, auth: $auth))->lock('x', 0));
$texts(fn () => (new ZkLock(zk_hosts(), $root, auth: "digest:bob:$secret"))->lock('own', 0));
$alice->lock('own-2', 10);
ob_start();
var_dump($alice, $lease);
print_r([$alice, $lease]);
var_export($lease);
phpinfo(INFO_MODULES);
$shown .= ob_get_clean();
$shown .= json_encode([(array) $alice, (array) $lease, get_object_vars($alice)]);
hides([$secret, substr($secret, 3), 'digest:alice'], $shown, 'the output');
$output = php_child('
    function connect(string $hosts, #[SensitiveParameter] string $auth) { return new ZkLock($hosts, "/locks", 0.3, $auth); }
    connect($argv[1], getenv("ZK_AUTH"))->acquire("x", 0);
', ['127.0.0.1:' . closed_port()], '-d zend.exception_ignore_args=0', ['ZK_AUTH' => $auth])->readAll();
holds(str_contains($output, 'Uncaught Dlock\ConnectionException'), 'the message of an uncaught exception', $output);
hides([$secret, substr($secret, 3)], $output, 'the message of an uncaught exception');
echo "done\n";
?>
--EXPECT--
done
