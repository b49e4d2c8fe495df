--TEST--
releaseOnShutdown: false leaves locks at the process' end to their lease time; the INI setting is the default
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/permits.inc';

$takes = [
    'lock()' => ['$lock = new DistributedLock($argv[1]OPTIONS); $lock->lock($argv[3], 0, 1000);', 'Lock:'],
    'a Lease' => ['$lease = (new DistributedLock($argv[1]OPTIONS))->acquire($argv[3], 0, 1000);', 'Lock:'],
    'a Lease, attached' => ['$lock = new DistributedLock($argv[1]OPTIONS); $lease = $lock->attach($lock->acquire($argv[3], 0, 1000)->detach());', 'Lock:'],
    'RedLock::lock()' => ['$array = (new RedLock(explode(",", $argv[2])OPTIONS))->lock($argv[3], 1_000_000);', ''],
    'Semaphore' => ['$lease = (new Dlock\Semaphore(5, $argv[1]OPTIONS))->acquire($argv[3], 3, 0, 1000);', 'Semaphore:'],
    'a reader' => ['$lease = (new Dlock\ReadWriteLock($argv[1]OPTIONS))->readLock()->acquire($argv[3], 0, 1000);', 'ReadWriteLock:'],
    'a writer' => ['$lease = (new Dlock\ReadWriteLock($argv[1]OPTIONS))->writeLock()->acquire($argv[3], 0, 1000);', 'ReadWriteLock:'],
    'RedLock, a Lease' => ['$lease = (new RedLock(explode(",", $argv[2])OPTIONS))->acquire($argv[3], 0, 1000);', ''],
];
$ends = ['the end' => '', 'exit' => 'exit;', 'an exception' => 'throw new Exception();', 'a fatal error' => 'eval("abstract class A { abstract function f(); } class B extends A {}");'];
$settings = [
    ['', '-d dlock.release_on_shutdown=0', 1],
    ['', '-d dlock.release_on_shutdown=1', 0],
    [', releaseOnShutdown: false', '', 1],
    [', releaseOnShutdown: false', '-d dlock.release_on_shutdown=1', 1],
    [', releaseOnShutdown: true', '-d dlock.release_on_shutdown=0', 0],
    [', releaseOnShutdown: null', '-d dlock.release_on_shutdown=0', 1],
];
$redis = redis_raw();
foreach ($takes as $take => [$code, $prefix]) {
    foreach ($settings as $i => [$options, $ini, $left]) {
        // All ends with the first settings, one end with the others.
        foreach ($i < 1 ? $ends : array_slice($ends, 0, 1) as $end => $end_code) {
            $resource = unique("$take $i $end");
            $child = php_child(str_replace('OPTIONS', $options, $code) . $end_code, [redis_server(), implode(',', redis_servers(3)), $resource], $ini);
            $child->wait();
            $is_left = strlen($prefix) > strlen('Lock:') ? counts_of($prefix . $resource, 5)['held'] > 0 : $redis->cmd('EXISTS', $prefix . $resource) === 1;
            same($left === 1, $is_left, "$take, settings $i, $end");
            $redis->cmd('DEL', $prefix . $resource);
        }
    }
}

// A release in the script releases nevertheless.
$child = php_child('
    $lock = new DistributedLock($argv[1], releaseOnShutdown: false);
    $lock->lock($argv[2], 0, 1000);
    $lease = $lock->acquire("$argv[2]-lease", 0, 1000);
    $scope = $lock->acquire("$argv[2]-scope", 0, 1000);
    $lock->release($argv[2]);
    $lease->release();
    unset($scope);
', [redis_server(), $resource = unique('released')]);
same('', $child->readAll(), 'its output');
$child->wait();
same(0, $redis->cmd('EXISTS', "Lock:$resource", "Lock:$resource-lease", "Lock:$resource-scope"), 'what was released');
echo "done\n";
?>
--EXPECT--
done
