--TEST--
var_dump() shows servers, settings, and for how long each lock is held
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';

/** Removes what differs from run to run. */
function dump(mixed $value): void
{
    ob_start();
    var_dump($value);
    echo preg_replace([
        '/#\d+ /', '/127\.0\.0\.1:\d+/', '/"[0-9a-f]{44}"/', '/int\(\d{16}\)/', '/float\(\d+\.\d{2,}\)/', '/' . unique() . '/', '/string\(\d+\) /',
    ], [' ', 'server', '"token"', 'int(microseconds)', 'float(seconds left)', 'resource', 'string '], ob_get_clean());
}

$resource = unique();
$lock = new DistributedLock(redis_server(), ttl: 20);
$lock->lock($resource, 0);
dump($lock);
dump(new RedLock(redis_servers(3), prefix: 'p:', timeout: 5));
$lease = $lock->acquire("$resource-2");
dump($lease);
$lease->release();
dump($lease);
dump(new Dlock\Semaphore(7, redis_server(), ttl: 3));
dump($sides = new Dlock\ReadWriteLock(redis_server(), 'rw:', timeout: 5, fairness: 'fifo'));
dump($sides->writeLock());
$lease = (new Dlock\Semaphore(7, redis_server()))->acquire($resource, 5);
dump($lease);
?>
--EXPECT--
object(DistributedLock) (5) {
  ["servers"]=>
  string "server"
  ["prefix"]=>
  string "Lock:"
  ["ttl"]=>
  float(20)
  ["timeout"]=>
  float(60)
  ["held"]=>
  array(1) {
    ["resource"]=>
    float(seconds left)
  }
}
object(RedLock) (5) {
  ["servers"]=>
  string "server, server, server"
  ["prefix"]=>
  string "p:"
  ["ttl"]=>
  float(10)
  ["timeout"]=>
  float(5)
  ["held"]=>
  array(0) {
  }
}
object(Dlock\Lease) (6) {
  ["resource"]=>
  string "resource-2"
  ["resources"]=>
  array(1) {
    [0]=>
    string "resource-2"
  }
  ["fencingToken"]=>
  int(microseconds)
  ["permits"]=>
  int(1)
  ["state"]=>
  string "Held"
  ["remaining"]=>
  float(seconds left)
}
object(Dlock\Lease) (6) {
  ["resource"]=>
  string "resource-2"
  ["resources"]=>
  array(1) {
    [0]=>
    string "resource-2"
  }
  ["fencingToken"]=>
  int(microseconds)
  ["permits"]=>
  int(1)
  ["state"]=>
  string "Released"
  ["remaining"]=>
  float(0)
}
object(Dlock\Semaphore) (5) {
  ["servers"]=>
  string "server"
  ["prefix"]=>
  string "Semaphore:"
  ["ttl"]=>
  float(3)
  ["timeout"]=>
  float(60)
  ["capacity"]=>
  int(7)
}
object(Dlock\ReadWriteLock) (5) {
  ["servers"]=>
  string "server"
  ["prefix"]=>
  string "rw:"
  ["ttl"]=>
  float(10)
  ["timeout"]=>
  float(5)
  ["fairness"]=>
  string "fifo"
}
object(Dlock\ReadWriteLockSide) (5) {
  ["servers"]=>
  string "server"
  ["prefix"]=>
  string "rw:"
  ["ttl"]=>
  float(10)
  ["timeout"]=>
  float(5)
  ["side"]=>
  string "write"
}
object(Dlock\Lease) (6) {
  ["resource"]=>
  string "resource"
  ["resources"]=>
  array(1) {
    [0]=>
    string "resource"
  }
  ["fencingToken"]=>
  int(microseconds)
  ["permits"]=>
  int(5)
  ["state"]=>
  string "Held"
  ["remaining"]=>
  float(seconds left)
}
