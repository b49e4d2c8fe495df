--TEST--
ZkLock frees the lock of a holder that throws, dies or is killed, and serves waiters in their order
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';

$zk = zk_raw();

function nodes(ZkRaw $zk, string $resource): array
{
    try {
        return $zk->getChildren("/locks/$resource");
    } catch (ZkError $e) { // ZooKeeper deletes the node once it is empty
        return $e->getCode() === ZkError::NO_NODE ? [] : throw $e;
    }
}

/** A process that acquires the lock, and runs $end when it is told to. */
function holder(string $resource, string $end, float $sessionTimeout): PhpChild
{
    $child = php_child('
        $lock = new ZkLock($argv[1], sessionTimeout: (float) $argv[3]);
        echo $lock->lock($argv[2]) ? "held\n" : "not held\n";
        fgets(STDIN);
        ' . $end, [zk_hosts(), $resource, (string) $sessionTimeout]);
    echo $child->readLine(), "\n";
    return $child;
}

echo "-- an ephemeral sequential node\n";
$resource = unique('plain');
$mine = new ZkLock(zk_hosts());
var_dump($mine->lock($resource));
var_dump(count($nodes = nodes($zk, $resource)), preg_match('/-lock-\d{10}$/', $nodes[0]));
var_dump($zk->exists("/locks/$resource/$nodes[0]")['ephemeralOwner'] !== 0);
var_dump($mine->release($resource), nodes($zk, $resource), $mine->release($resource));

// The session is long, so that its expiry does not free the lock: the node disappears with the process.
foreach (['exception' => 'throw new Exception("boom");', 'die' => 'die("bye\n");'] as $name => $end) {
    echo "-- $name\n";
    $resource = unique($name);
    $child = holder($resource, $end, 50);
    var_dump($mine->lock($resource, 0));
    $child->writeLine('go');
    echo preg_match('/boom|bye/', $child->readAll(), $m) ? "$m[0]\n" : "no word\n";
    $child->wait();
    // A refused attempt deletes its node without waiting for the answer, so this one may still be on its way.
    wait_for(fn () => nodes($zk, $resource) === [], 60, 'the nodes to be gone');
    var_dump($mine->lock($resource, 0), $mine->release($resource));
}

echo "-- SIGKILL\n";
$resource = unique('killed');
$child = holder($resource, '', 3);
$child->signal(9);
var_dump($child->wait());
var_dump(count(nodes($zk, $resource))); // the server does not know yet
var_dump($mine->lock($resource, 30), $mine->release($resource));

echo "-- first come, first served\n";
$resource = unique('order');
$file = temporary_directory() . '/order';
$mine->lock($resource);
$children = [];
for ($i = 0; $i < 4; $i++) {
    $children[] = fork_child(function (int $i) use ($resource, $file) {
        $lock = new ZkLock(zk_hosts());
        $lock->lock($resource, 60);
        file_put_contents($file, $i, FILE_APPEND);
        return $lock->release($resource);
    }, [$i]);
    wait_for(fn () => count(nodes($zk, $resource)) === $i + 2, 60, 'the next waiter');
}
$mine->release($resource);
var_dump(array_map(fn ($child) => $child->result(), $children) === [true, true, true, true]);
echo file_get_contents($file), "\n";
var_dump(nodes($zk, $resource));
$zk->close();
?>
--EXPECT--
-- an ephemeral sequential node
bool(true)
int(1)
int(1)
bool(true)
bool(true)
array(0) {
}
bool(false)
-- exception
held
bool(false)
boom
bool(true)
bool(true)
-- die
held
bool(false)
bye
bool(true)
bool(true)
-- SIGKILL
held
int(137)
int(1)
bool(true)
bool(true)
-- first come, first served
bool(true)
0123
array(0) {
}
