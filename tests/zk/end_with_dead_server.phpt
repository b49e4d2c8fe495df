--TEST--
ZkLock: a server that does not answer delays neither the end of a request nor that of a process
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';

$server = zk_private();
$timeout = 30;
$holds = '
    $lock = new ZkLock($hosts, sessionTimeout: ' . $timeout . ');
    foreach (range(1, 10) as $i) {
        $leases[] = $lock->acquire("$key-$i", 10);
        $lock->lock("$key-lock-$i", 10);
    }
';
// A process.
foreach (['' => 0, 'exit(3);' => 3, 'throw new Exception("uncaught");' => 255] as $end => $code) {
    $child = php_child("[, \$hosts, \$key] = \$argv; $holds echo \"held\\n\"; fgets(STDIN); $end", [$server->hosts(), unique("process $code")]);
    same('held', $child->readLine(), 'the process');
    $server->pause();
    $time = seconds(function () use ($child, $code) {
        $child->writeLine('go');
        same($code, $child->wait(60), 'the exit code');
    });
    $server->resume();
    within(0, $time, SOON, 'seconds until the end of the process');
}

// A request: its locks are released later, in the background.
$fpm = fpm_start([], 1);
$script = $fpm->script('holds', '
    $hosts = $_GET["hosts"];
    $key = $_GET["key"];
    ' . $holds . '
    echo "held";
    flush();
    touch($_GET["file"]);
    while (!file_exists($_GET["file"] . "-go")) {
        pause(0.001);
        clearstatcache();
    }
');
$request = $fpm->send($script, ['hosts' => $server->hosts(), 'key' => unique('fpm'), 'file' => "$fpm->dir/held"]);
wait_for(fn () => file_exists("$fpm->dir/held"), 60, 'the request');
$server->pause();
$time = seconds(function () use ($fpm, $request) {
    touch("$fpm->dir/held-go");
    same('held', $request->response(), 'the response');
});
$server->resume();
// 100 ms are allowed in all (INI dlock.shutdown_timeout).
within(0, $time, SOON, 'seconds until the response');
$zk = $server->raw();
foreach ([1, 10] as $i) {
    wait_for_nodes($zk, 0, unique('fpm') . "-$i");
    wait_for_nodes($zk, 0, unique('fpm') . "-lock-$i");
}
echo "done\n";
?>
--EXPECT--
done
