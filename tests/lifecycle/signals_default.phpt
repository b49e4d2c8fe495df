--TEST--
Ctrl-C, SIGTERM and the time limit end a script that waits for a lock
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$waits = [
    'DistributedLock' => '$lock = new DistributedLock($argv[1]); $lock->isLocked($argv[3]); $lock->lock("$argv[3]-own", 0, 1000); echo "waits\n"; $lock->lock($argv[3]);',
    'acquire()' => '$lock = new DistributedLock($argv[1]); $lock->isLocked($argv[3]); $own = $lock->acquire("$argv[3]-own", 0, 1000); echo "waits\n"; $lease = $lock->acquire($argv[3], 1000);',
    'RedLock' => '$red = new RedLock(explode(",", $argv[2]), prefix: "Lock:"); $red->isLocked($argv[3]); $own = $red->acquire("$argv[3]-own", 0, 1000); echo "waits\n"; $lease = $red->acquire($argv[3], 1000);',
];
foreach ($waits as $name => $code) {
    $resource = unique($name);
    for ($i = 0; $i < 3; $i++) {
        redis_raw($i)->cmd('SET', "Lock:$resource", 'theirs', 'PX', 600_000);
    }
    $start = function (string $more = '') use ($code, $resource, $name) {
        $child = php_child($more . $code, [redis_server(), implode(',', redis_servers(3)), $resource]);
        same('waits', $child->readLine(), $name);
        pause(0.02);
        return $child;
    };

    // The default action kills, wherever the script is.
    foreach ([SIGINT, SIGTERM, SIGHUP] as $signal) {
        $child = $start();
        $child->signal($signal);
        same(128 + $signal, $child->wait(), "$name: signal $signal");
        redis_raw(0)->cmd('DEL', "Lock:$resource-own");
        redis_raw(1)->cmd('DEL', "Lock:$resource-own");
        redis_raw(2)->cmd('DEL', "Lock:$resource-own");
    }

    // The time limit counts processor time, of which a wait uses none. The test sends the signal of its timer itself:
    // the script ends as by any fatal error, and releases its locks.
    $child = $start('set_time_limit(100);');
    same(1, redis_raw()->cmd('EXISTS', "Lock:$resource-own"), "$name: its own lock");
    $child->signal(defined('SIGPROF') ? SIGPROF : 27);
    holds(str_contains($text = $child->readAll(), 'Maximum execution time of 100 seconds exceeded'), "$name: the message of the time limit", $text);
    same(255, $child->wait(), "$name: the exit code after the time limit");
    same(0, redis_raw()->cmd('EXISTS', "Lock:$resource-own"), "$name: its own lock after the time limit");

    // A handler without pcntl_async_signals() runs when the script asks for it, and the wait continues until then.
    $child = $start('pcntl_signal(SIGUSR1, function () { echo "handled\n"; }); register_shutdown_function("pcntl_signal_dispatch");');
    $child->signal(SIGUSR1);
    for ($i = 0; $i < 3; $i++) {
        redis_raw($i)->cmd('DEL', "Lock:$resource");
    }
    same("handled\n", $child->readAll(), "$name: a handler that is not asynchronous");
    same(0, $child->wait(), "$name: its exit code");
    for ($i = 0; $i < 3; $i++) {
        same(0, redis_raw($i)->cmd('EXISTS', "Lock:$resource", "Lock:$resource-own"), "$name: keys left on server $i");
    }
}
echo "done\n";
?>
--EXPECT--
done
