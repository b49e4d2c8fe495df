--TEST--
php-fpm: a request that dies leaves its locks free for the next request, and its worker as good as new
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$fpm = fpm_start(['dlock.server' => '"' . redis_auth_server() . '/1"', 'display_errors' => 1, 'html_errors' => 0, 'log_errors' => 0], 2);
$dying = $fpm->script('dying', '
    $key = $_GET["key"];
    $single = new DistributedLock();
    $red = new RedLock(explode(",", $_GET["servers"]));
    function lock_and(callable $end): void
    {
        global $single, $red, $key, $lease, $array, $permits, $reader;
        $single->lock("$key-lock", 0, 1000);
        $lease = $single->acquire("$key-lease", 0, 1000);
        $array = $red->lock("$key-red", 1_000_000);
        $local = $red->acquire("$key-red-lease", 0, 1000);
        $permits = (new Dlock\Semaphore(5))->acquire("$key-semaphore", 3, 0, 1000);
        $reader = (new Dlock\ReadWriteLock())->readLock()->acquire("$key-read-write", 0, 1000);
        echo "locked ";
        $single->synchronized("$key-section", fn () => $end(), 0, 1000);
    }
    lock_and(function () {
        switch ($_GET["end"]) {
            case "exit": exit;
            case "an exception": throw new RuntimeException("uncaught");
            case "a fatal error": eval("abstract class A { abstract function f(); } class B extends A {}");
            case "the memory limit": return str_repeat("x", 500_000_000);
            case "the time limit": reach_time_limit();
        }
    });
    // Inside the section nothing is left for: the end of the script
');
$next = $fpm->script('next', '
    $key = $_GET["key"];
    $single = new DistributedLock();
    $red = new RedLock(explode(",", $_GET["servers"]), 1, 1);
    $got = [];
    $start = now();
    foreach (["$key-lock", "$key-lease", "$key-section"] as $resource) {
        $got[] = $single->tryAcquire($resource, 20)?->isHeld();
    }
    foreach (["$key-red", "$key-red-lease"] as $resource) {
        $got[] = $red->tryAcquire($resource, 20)?->isHeld();
    }
    $got[] = (new Dlock\Semaphore(5))->tryAcquire("$key-semaphore", 5, 20)?->isHeld();
    $got[] = (new Dlock\ReadWriteLock())->writeLock()->tryAcquire("$key-read-write", 20)?->isHeld();
    echo json_encode([$got, now() - $start, getmypid()]);
');
$servers = implode(',', redis_servers(3));
$workers = $fpm->workerPids();
$texts = ['exit' => '', 'an exception' => 'Uncaught RuntimeException: uncaught', 'a fatal error' => 'Fatal error', 'the memory limit' => 'Allowed memory size',
    'the time limit' => 'Maximum execution time of 1 second exceeded', 'the end of the script' => ''];
if (!has_memory_limit()) {
    unset($texts['the memory limit']);
}
for ($round = 0; $round < 3; $round++) {
    foreach ($texts as $end => $text) {
        if ($round > 0 && $end === 'the time limit') {
            continue; // it takes a second
        }
        $key = unique("$round $end");
        $body = $fpm->request($dying, ['key' => $key, 'servers' => $servers, 'end' => $end], 60);
        holds(str_starts_with($body, 'locked ') && str_contains($body, $text), "the answer of a request with $end", $body);
        [$got, $time] = json_decode($fpm->request($next, ['key' => $key, 'servers' => $servers], 150), true) ?? [null, 0];
        same(array_fill(0, 7, true), $got, "the next request after $end");
        // 200 ms for seven locks are enough; a slow machine may take longer, but a lease time would be 1000 s.
        within(0, $time, SOON, "its time after $end");
        if ($got !== array_fill(0, 7, true)) {
            break 2; // each lock that is not free takes its time
        }
    }
}
same($workers, $fpm->workerPids(), 'workers');

// If the client disconnects, the request still ends, and releases its locks.
$waits = $fpm->script('waits', '
    $lock = new DistributedLock();
    $lock->lock($_GET["key"], 0, 1000);
    while (!file_exists($_GET["file"])) {
        pause(0.001);
    }
');
$redis = new RedisRaw(test_env('DLOCK_TEST_REDIS_AUTH'), redis_password(), 'app');
$redis->cmd('SELECT', 1);
$key = unique('aborted');
$request = $fpm->send($waits, ['key' => $key, 'file' => "$fpm->dir/go"]);
wait_for(fn () => $redis->cmd('EXISTS', "Lock:$key") === 1, 60, 'the lock');
$request->abort();
touch("$fpm->dir/go");
wait_until_gone($redis, "Lock:$key");

// A killed worker keeps its lock for the lease time, and disturbs no other worker.
unlink("$fpm->dir/go");
$key = unique('killed');
$slow = $fpm->script('slow', '
    $lease = (new DistributedLock())->acquire($_GET["key"], 60, 100);
    file_put_contents($_GET["file"], getmypid());
    pause(60);
');
$request = $fpm->send($slow, ['key' => $key, 'file' => "$fpm->dir/pid"]);
$pid = wait_for(fn () => (int) @file_get_contents("$fpm->dir/pid"), 60, 'the worker');
posix_kill($pid, SIGKILL);
$request->response(60);
same(1, $redis->cmd('EXISTS', "Lock:$key"), 'the lock of a worker that was killed');
$redis->cmd('PEXPIRE', "Lock:$key", 1); // the end of the lease time
$got = $fpm->request($fpm->script('late', 'echo (new DistributedLock())->lock($_GET["key"], 60) ? "locked" : "not locked";'), ['key' => $key], 90);
same('locked', $got, 'a request after the worker was killed');
echo "done\n";
?>
--EXPECT--
done
