--TEST--
memory:// tables: how they are named, what is refused, and what stats() and var_dump() show
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/lease.inc';

$prefix = 'DistributedLock::__construct(): Argument #1 ($server) ';
foreach (['memory://user:secret@table', 'memory://:secret@table'] as $dsn) {
    fails(ValueError::class, $prefix . 'must have no *, since memory:// is no server', fn () => new DistributedLock($dsn), $dsn);
}
foreach ([['auth' => 'secret'], ['database' => 1], ['ssl' => true]] as $more) {
    fails(ValueError::class, $prefix . 'must have no *, since memory:// is no server',
        fn () => new DistributedLock(['scheme' => 'memory', 'host' => 'table'] + $more), array_key_first($more));
}
fails(ValueError::class, $prefix . '*unknown option*', fn () => new DistributedLock('memory://table?size=1'));
fails(ValueError::class, $prefix . '*', fn () => new DistributedLock('memory://' . str_repeat('x', 101)), 'a long name');
fails(ValueError::class, 'DistributedLock::__construct(): Argument #8 ($legacy) must be false: only Redis has locks of other code to share', fn () => new DistributedLock('memory://', legacy: true));
foreach ([['memory://'], [redis_server(0), redis_server(1), 'memory://x']] as $servers) {
    fails(ValueError::class, 'RedLock::__construct(): Argument #1 ($servers) must name Redis servers, but element ' . count($servers) - 1 . ' is no server: *', fn () => new RedLock($servers));
}

// Arguments are checked as with a server.
$lock = new DistributedLock('memory://');
foreach ([0.002, 0, -1, 31536001, NAN] as $ttl) {
    fails(ValueError::class, 'DistributedLock::acquire(): Argument #3 ($ttl) must be between 0.003 and 31536000 seconds', fn () => $lock->acquire('r', 0, $ttl), "a ttl of $ttl");
    fails(ValueError::class, 'DistributedLock::__construct(): Argument #3 ($ttl) must be between 0.003 and 31536000 seconds', fn () => new DistributedLock('memory://', ttl: $ttl), "a ttl of $ttl");
}
fails(ValueError::class, '*($timeout) must be between 0 and 31536000 seconds', fn () => $lock->acquire('r', -1), 'a timeout of -1');
fails(ValueError::class, '*($onLoss) must be either "flag" or "throw"', fn () => new DistributedLock('memory://', onLoss: 'x'));
foreach ([0.003, 0.004, 31536000] as $ttl) {
    $lease = $lock->acquire("ttl-$ttl", 0, $ttl);
    within(0, $lease->remaining(), $ttl, "a lease of $ttl s");
}

/** What $do adds to the counters. */
function added(callable $do): array
{
    $before = Dlock\stats();
    $do();
    $added = [];
    foreach (Dlock\stats() as $name => $value) {
        if ($value != $before[$name]) {
            $added[$name] = $value - $before[$name];
        }
    }
    return $added;
}

same(['acquisitions' => 1], added(fn () => $lock->lock('r', 0, 100)), 'lock()');
same(['timeouts' => 1], added(fn () => $lock->tryAcquire('r')), 'an attempt');
$added = added(fn () => $lock->tryAcquire('r', 0.1));
within(0.1, $added['wait_time'] ?? 0, 10, 'the time waited');
unset($added['wait_time']);
same(['waits' => 1, 'timeouts' => 1], $added, 'a wait in vain');
same(['releases' => 1], added(fn () => $lock->release('r')), 'release()');
same(['acquisitions' => 1, 'releases' => 1], added(fn () => $lock->synchronized('r', fn () => 1, ttl: 100)), 'synchronized()');
$lease = $lock->acquire('r', 0, 0.05);
same(['losses' => 1], added(function () use ($lease) {
    wait_for(fn () => !$lease->isHeld(), 60, 'the end of a lease');
    $lease->release();
}), 'a loss');

// ---- dlock.server ----
$child = php_child('$lock = new DistributedLock(); var_dump($lock->lock("r", 0), (new DistributedLock("memory://ini"))->isLocked("r"));', [], '-d ' . escapeshellarg('dlock.server="memory://ini"'));
same("bool(true)\nbool(true)\n", $child->readAll(), 'dlock.server');
same(0, $child->wait(), 'dlock.server: its end');

$lock = new DistributedLock('memory://table');
$lock->lock('r', 0);
var_dump($lock);
?>
--EXPECTF--
object(DistributedLock)#%d (5) {
  ["servers"]=>
  string(14) "memory://table"
  ["prefix"]=>
  string(5) "Lock:"
  ["ttl"]=>
  float(10)
  ["timeout"]=>
  float(60)
  ["held"]=>
  array(1) {
    ["r"]=>
    float(%f)
  }
}
