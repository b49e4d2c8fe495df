--TEST--
ZkLock in php-fpm: 60 further requests open no session; locks of dying requests are free for the next one
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
$zk = $server->raw();
$fpm = fpm_start(['display_errors' => 1, 'html_errors' => 0, 'log_errors' => 0], 2);
$script = $fpm->script('lock', '
    $lock = new ZkLock($_GET["hosts"], sessionTimeout: 30);
    $key = $_GET["key"];
    $got = [$lock->lock($key, 10), $lock->isLocked($key), $lock->release($key), $lock->synchronized($key, fn () => true)];
    $lease = $lock->acquire("$key-2", 10); // and the end of the request releases
    pause(0.005); // so that the other worker gets its share
    echo json_encode([getmypid(), $got, Dlock\stats()["sessions"]]);
');
$requests = function (int $n) use ($fpm, $script, $server): array {
    $workers = [];
    for ($i = 0; $i < $n; $i += 2) {
        $both = array_map(fn ($k) => $fpm->send($script, ['key' => unique("$i-$k"), 'hosts' => $server->hosts()]), [0, 1]);
        foreach ($both as $request) {
            $body = $request->response();
            [$pid, $got, $sessions] = json_decode($body, true) ?? [0, $body, 0];
            same([[true, true, true, true], 1], [$got, $sessions], 'a request: results, sessions of the worker');
            $workers[$pid] = ($workers[$pid] ?? 0) + 1;
        }
    }
    return $workers;
};
$seen = [];
wait_for(function () use ($requests, &$seen) {
    $seen += $requests(4);
    return count($seen) === 2;
}, 60, 'both workers');
$own = fn () => array_diff(array_keys(zk_sessions($server->hosts())), [$zk->sessionId]);
$sessions = $own();
same(2, count($sessions), 'sessions of two workers');
// In no order: the server lists them by their timeouts.
$known = function () use ($server) {
    preg_match_all('/^\s*(0x[0-9a-f]+)/m', $server->ask('dump'), $found);
    $ids = array_values(array_unique($found[1]));
    sort($ids);
    return $ids;
};
$before = $known();
$workers = $requests(60);
same(2, count($workers), 'workers that served the 60 requests');
same(60, array_sum($workers), 'requests');
$after = $own();
sort($sessions);
sort($after);
same($sessions, $after, 'sessions after 60 further requests');
same($before, $known(), 'sessions that the server knows');
foreach ([0, 1] as $k) {
    wait_for_nodes($zk, 0, unique("58-$k-2"));
}

// ---- requests that die ----
$dying = $fpm->script('dying', '
    $lock = new ZkLock($_GET["hosts"], sessionTimeout: 30);
    $key = $_GET["key"];
    $lock->lock("$key-1", 10);
    $lease = $lock->acquire("$key-2", 10);
    echo "locked ";
    $lock->synchronized("$key-3", function () {
        switch ($_GET["end"]) {
            case "exit": exit;
            case "an exception": throw new RuntimeException("uncaught");
            case "a fatal error": eval("abstract class A { abstract function f(); } class B extends A {}");
            case "the memory limit": return str_repeat("x", 500_000_000);
            case "the time limit": reach_time_limit();
        }
    }, 10);
');
$next = $fpm->script('next', '
    $lock = new ZkLock($_GET["hosts"], sessionTimeout: 30);
    $start = now();
    foreach ([1, 2, 3] as $i) {
        $got[] = $lock->tryAcquire($_GET["key"] . "-$i", 5)?->isHeld();
    }
    echo json_encode([$got, now() - $start]);
');
$texts = ['exit' => '', 'an exception' => 'Uncaught RuntimeException: uncaught', 'a fatal error' => 'Fatal error', 'the memory limit' => 'Allowed memory size',
    'the time limit' => 'Maximum execution time of 1 second exceeded', 'the end of the script' => ''];
$pids = $fpm->workerPids();
for ($round = 0; $round < 3; $round++) {
    foreach ($texts as $end => $text) {
        if ($round > 0 && $end === 'the time limit') {
            continue; // it takes a second
        }
        $key = unique("$round $end");
        $body = $fpm->request($dying, ['key' => $key, 'hosts' => $server->hosts(), 'end' => $end]);
        holds(str_starts_with($body, 'locked ') && str_contains($body, $text), "the answer of a request with $end", $body);
        [$got, $time] = json_decode($fpm->request($next, ['key' => $key, 'hosts' => $server->hosts()]), true) ?? [null, 0];
        same([true, true, true], $got, "the next request after $end");
        // 200 ms are enough; a slow machine may take longer, but a session would live on.
        within(0, $time, SOON, "its time after $end");
    }
}
same($pids, $fpm->workerPids(), 'workers');
$after = $own();
sort($after);
same($sessions, $after, 'sessions after the requests that died');

// ---- releaseOnShutdown: false, which here lasts as long as the worker ----
$keeping = $fpm->script('keeping', '
    $lock = new ZkLock($_GET["hosts"], sessionTimeout: 30, releaseOnShutdown: false);
    echo json_encode([getmypid(), $lock->lock($_GET["key"], 10)]);
');
$key = unique('kept');
[$pid, $got] = json_decode($fpm->request($keeping, ['key' => $key, 'hosts' => $server->hosts()]), true);
same(true, $got, 'lock() with releaseOnShutdown: false');
$requests(10);
holds(in_array(zk_owner($zk, $key), $sessions, true), 'still locked by the session of the worker');
same(false, (new ZkLock($server->hosts()))->lock($key, 0), 'lock() by another process');

// ---- locks of the pool are free after an orderly end of php-fpm ----
posix_kill($fpm->pid, SIGQUIT);
wait_for_nodes($zk, 0, $key);
wait_for(fn () => !array_intersect(array_keys(zk_sessions($server->hosts())), $sessions), 60, 'the sessions to be closed');
echo "done\n";
?>
--EXPECT--
done
