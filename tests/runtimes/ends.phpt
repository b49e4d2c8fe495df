--TEST--
Runtimes: however a process ends while strands wait, they leave nothing behind
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/strands.inc';

$prelude = 'require ' . var_export(__DIR__ . '/../inc/strands.inc', true) . '; require ' . var_export(__DIR__ . '/../inc/locks.inc', true) . ';
    $name = $argv[1];
    $resource = $argv[2];
    $manager = match ($name) {
        "DistributedLock" => new DistributedLock(redis_server()),
        "RedLock" => new RedLock(redis_servers(5), prefix: "Lock:"),
        "Semaphore" => new OnePermit(new Dlock\Semaphore(1, redis_server(), "Lock:")),
        "ReadWriteLock" => (new Dlock\ReadWriteLock(redis_server(), "Lock:"))->writeLock(),
        "ZkLock" => new ZkLock(zk_hosts()),
    };
    Strands::install();
    $waits = fn () => function () use ($manager, $resource) {
        $lease = $manager->acquire("$resource-own", 0);
        $manager->acquire($resource, 60);
    };
    $held = $manager->acquire("$resource-held", 0);
    Strands::spawn(function () use ($manager, $resource) {
        $lease = $manager->acquire("$resource-own", 0);
        $manager->acquire($resource, 60);
    });
    for ($i = 0; $i < 2; $i++) {
        Strands::spawn(fn () => $manager->acquire($resource, 60));
    }
    $told = false;
    Strands::spawn(function () use (&$told, $manager, $resource, $argv) {
        stream_set_blocking(STDIN, false);
        while (!feof(STDIN) && fgets(STDIN) === false) {
            Strands::pause(0.005);
        }
        $told = true;
        if ($argv[3] === "in the waiter") {
            $manager->acquire("$resource-held", 60); // calls it
        }
    });
';
$fatal = 'trigger_error("fatal", E_USER_ERROR);';
$ways = [
    'exit in {main}' => 'Strands::run(function () use (&$told) { return $told; }); exit;',
    'exit in a strand' => 'Strands::spawn(function () use (&$told) { while (!$told) Strands::pause(0.005); exit; }); Strands::run();',
    'exit in the waiter' => 'Strands::$before = function () use (&$told) { if ($told) exit; }; Strands::run();',
    'a fatal error in {main}' => "Strands::run(function () use (&\$told) { return \$told; }); $fatal",
    'a fatal error in a strand' => "Strands::spawn(function () use (&\$told) { while (!\$told) Strands::pause(0.005); $fatal }); Strands::run();",
    'a fatal error in the waiter' => "Strands::\$before = function () use (&\$told) { if (\$told) $fatal }; Strands::run();",
    'the memory limit in the waiter' => 'ini_set("memory_limit", "32M"); Strands::$before = function () use (&$told) { if ($told) for ($x = ["x"];; $x[] = str_repeat("x", 1000000)); }; Strands::run();',
    'an error in a strand' => 'Strands::spawn(function () use (&$told) { while (!$told) Strands::pause(0.005); throw new Error("x"); }); Strands::run();',
    'the end of the script' => 'Strands::run(function () use (&$told) { return $told; });',
];
$kinds = strand_kinds(memory: false);
unset($kinds['memcached']);
foreach ($kinds as $name => $kind) {
    foreach ($ways as $way => $code) {
        $resource = unique($name . "-" . md5($way)); // braces would be a hash tag
        $lease = $kind->manager()->acquire($resource, timeout: 0, ttl: $kind->ttl(100));
        $where = str_ends_with($way, 'in the waiter') ? 'in the waiter' : '';
        $child = php_child($prelude . $code, [$name, $resource, $where], '-d display_errors=0 -d log_errors=0');
        $kind->waitUntilQueued($resource, 3);
        $child->closeInput();
        $child->readAll();
        $child->wait();
        foreach (['-held', '-own'] as $part) {
            $kind->waitUntilGone("$resource$part");
        }
        same(true, $lease->release(), "$name, $way: the holder");
        $kind->waitUntilGone($resource);
    }
}

// A fatal error in the waiter of a strand that has been granted the lock meanwhile.
$resource = unique('granted');
$child = php_child('require ' . var_export(__DIR__ . '/../inc/strands.inc', true) . ';
    $lock = new DistributedLock(redis_server());
    $raw = redis_raw();
    Dlock\\setWaiter($none = fn () => null);
    $fiber = new Fiber(fn () => $lock->acquire($argv[1], 0));
    $fiber->start();
    Dlock\\setWaiter(function () use ($fiber, $lock, $raw, $argv) {
        if ($raw->cmd("ZCARD", "dlock:queue:{Lock:$argv[1]}") === 1) {
            $fiber->getReturn()->release();
            for ($i = 0; $i < 20; $i++) { // takes in what comes
                $lock->isLocked($argv[1]);
                pause(0.005);
            }
            trigger_error("fatal", E_USER_ERROR);
        }
    });
    $lock->acquire($argv[1], 60);
    echo "went on\n";
', [$resource], '-d display_errors=0 -d log_errors=0');
same(['', 255], [$child->readAll(), $child->wait()], 'a fatal error in the waiter of one that has the lock already');
wait_for(fn () => !(new DistributedLock(redis_server()))->isLocked($resource), 60, 'the lock to be free');
echo "done\n";
?>
--EXPECT--
done
