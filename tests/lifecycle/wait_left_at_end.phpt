--TEST--
releaseOnShutdown: false applies to held locks: a wait that the request's end interrupts, or a lock that failed, leaves nothing
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_signal', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/locks.inc';

$prelude = 'require ' . var_export(__DIR__ . '/../inc/descriptors.inc', true) . '; require ' . var_export(__DIR__ . '/../inc/handover.inc', true) . ';
    $options = ["releaseOnShutdown" => false, "onLoss" => "throw"];
    $locks = match ($argv[1]) {
        "DistributedLock" => new DistributedLock(redis_server(), ...$options),
        "RedLock" => new RedLock(redis_servers(5), ...["prefix" => "Lock:"], ...$options),
        "Semaphore" => new OnePermit(new Dlock\Semaphore(1, redis_server(), "Lock:", ...$options)),
        "ReadWriteLock" => (new Dlock\ReadWriteLock(redis_server(), "Lock:", ...$options))->writeLock(),
        "ZkLock" => new ZkLock(zk_hosts(), ...$options),
    };
    $resource = $argv[2];
    $locks->isLocked($resource); // connects
    $stay = function (string $text) {
        echo "$text\n";
        fgets(STDIN);
    };
';
$zk = zk_raw();
$redis = array_column([...shared_locks(), ...shared_pools()], null, 'name');

// ---- a wait ----
$ways = [
    'a handler throws, in a shutdown function' => '
        pcntl_signal(SIGUSR1, fn () => throw new LogicException("of the handler"));
        register_shutdown_function(fn () => $stay(thrown_by(fn () => $locks->acquire($resource, 60))->getMessage()));
    ',
    'a handler exits' => '
        pcntl_signal(SIGUSR1, fn () => exit);
        register_shutdown_function($stay, "of the handler");
        $locks->acquire($resource, 60);
    ',
];
foreach (lock_kinds() as $kind) {
    foreach ($ways as $way => $code) {
        $resource = unique("$kind-$way");
        $holder = $kind === 'ZkLock' ? new ZkLock(zk_hosts()) : $redis[$kind]->manager();
        $lease = $holder->acquire($resource, 0, $kind === 'ZkLock' ? null : 100);
        $child = php_child("$prelude pcntl_async_signals(true); $code", [$kind, $resource]);
        $kind === 'ZkLock' ? wait_for_nodes($zk, 2, $resource) : $redis[$kind]->waitUntilQueued($resource, 1);
        $child->signal(SIGUSR1);
        same('of the handler', $child->readLine(), "$kind, $way: the wait ends");
        $kind === 'ZkLock' ? wait_for_nodes($zk, 1, $resource) : $redis[$kind]->waitUntilQueuesGone($resource);
        $child->closeInput();
        same([null, 0], [$child->readLine(), $child->wait()], "$kind, $way: the end of the process");
        same(true, $lease->release(), "$kind, $way: release() of the holder");
    }
}

// ---- a lock whose loss could not be reported, so acquire() threw ----
foreach (lock_kinds() as $kind) {
    $resource = unique("$kind-no-descriptor");
    $child = php_child($prelude . '
        limit_descriptors(200);
        $ttl = $argv[1] === "ZkLock" ? null : 100;
        register_shutdown_function(fn () => $stay(thrown_by(fn () => with_descriptors(0, fn () => $locks->acquire($resource, 0, $ttl)))->getMessage()));
    ', [$kind, $resource]);
    same('Cannot report a loss, because no descriptor is left: Too many open files', $child->readLine(), "$kind: acquire() without descriptors");
    $kind === 'ZkLock' ? wait_for_nodes($zk, 0, $resource) : wait_for(fn () => !$redis[$kind]->manager()->isLocked($resource), 60, "$kind to be free");
    $child->closeInput();
    same([null, 0], [$child->readLine(), $child->wait()], "$kind: the end of the process");
}
echo "done\n";
?>
--EXPECT--
done
