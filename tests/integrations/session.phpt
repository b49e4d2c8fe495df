--TEST--
Sessions with a lock: one request of a session runs at a time, sessions do not wait for each other; a killed request frees its session
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
skip_unless_integration('session/LockingSessionHandler.php');
exec(escapeshellarg(PHP_BINARY) . ' -n -d extension=igbinary -d extension=redis -r "new Redis;" 2>/dev/null', $output, $code);
$code === 0 || die('skip needs the Debian package php-redis');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';

// The sessions are in Redis, whose handler does not lock them, or in files.
$directory = temporary_directory();
$handlers = [
    'redis' => ['extension' => ['igbinary', 'redis'], 'session.save_handler' => 'redis', 'session.save_path' => '"tcp://' . redis_addresses()[1] . '"'],
    'files' => ['session.save_handler' => 'files', 'session.save_path' => $directory],
];
$id = fn (string $name) => preg_replace('/[^a-zA-Z0-9]/', '', unique($name)) . str_repeat('0', 20);

foreach ($handlers as $handler => $ini) {
    $fpm = fpm_start($ini + ['display_errors' => 1, 'html_errors' => 0, 'log_errors' => 0, 'session.use_strict_mode' => 1], 4);
    $script = $fpm->script('session', '
        require ' . var_export(integration('session/LockingSessionHandler.php'), true) . ';
        $locks = new DistributedLock(' . var_export(redis_server(), true) . ', ttl: (float) ($_GET["ttl"] ?? 60));
        session_set_save_handler(new Dlock\Session\LockingSessionHandler($locks, (float) ($_GET["timeout"] ?? 60)), true);
        ($_GET["id"] ?? "") === "" || session_id($_GET["id"]);
        session_start(["use_cookies" => 0, "cache_limiter" => ""]);
        $n = ($_SESSION["n"] ?? 0) + 1;
        if (isset($_GET["gate"])) {
            touch($_GET["gate"] . "." . getmypid());
            wait_for(fn () => !file_exists($_GET["gate"]), 60, "the gate");
        }
        pause((float) ($_GET["time"] ?? 0));
        $_SESSION["n"] = $n;
        match ($_GET["end"] ?? "") {
            "close" => session_write_close() && touch($_GET["closed"] . ".done") && wait_for(fn () => !file_exists($_GET["closed"]), 60, "the other request"),
            "regenerate" => session_regenerate_id(true),
            "fatal" => eval("abstract class A { abstract function f(); } class B extends A {}"),
            "lose" => (function () use ($locks) {
                $redis = new RedisRaw(' . var_export(redis_addresses()[0], true) . ');
                $redis->cmd("DEL", "Lock:session:" . session_id());
                wait_for(fn () => $locks->tryAcquire("session:" . session_id()) !== null, 60, "the key to be gone");
                pause(1.0); // longer than it takes to be renewed
            })(),
            default => null,
        };
        echo json_encode([session_id(), $n]);
    ');
    file_put_contents($script, str_replace('process.inc', 'servers.inc', file_get_contents($script)));
    $inside = fn (string $gate) => count(glob("$gate.*"));

    // The first session. In strict mode PHP refuses a client's own id.
    [$session, $n] = json_decode($fpm->request($script), true);
    same(1, $n, "$handler: the first request");
    same([$session, 2], json_decode($fpm->request($script, ['id' => $session]), true), "$handler: the second request");
    [$another, $n] = json_decode($fpm->request($script, ['id' => $id('unknown')]), true);
    holds($n === 1 && $another !== $id('unknown'), "$handler: an unknown id is replaced", $another, $n);

    // Ten requests at once: none loses what another has written. (Without the lock, Redis' handler does.)
    $requests = [];
    for ($i = 0; $i < 10; $i++) {
        $requests[] = $fpm->send($script, ['id' => $session, 'time' => 0.02]);
    }
    $counts = array_map(fn (FpmRequest $request) => json_decode($request->response(60), true)[1] ?? null, $requests);
    sort($counts);
    same(range(3, 12), $counts, "$handler: ten requests of one session");

    // Two requests of one session and one of another: one of the two and the other one run.
    $gate = gate();
    touch($gate);
    $requests = array_map(fn (string $id) => $fpm->send($script, ['id' => $id, 'gate' => $gate]), [$session, $session, $another]);
    wait_for(fn () => $inside($gate) >= 2, 60, 'two sessions at once');
    (new Locks('DistributedLock', [redis_addresses()[0]]))->waitUntilQueued("session:$session", 1);
    same(2, $inside($gate), "$handler: requests that run");
    unlink($gate);
    $answers = array_map(fn (FpmRequest $request) => json_decode($request->response(60), true), $requests);
    sort($answers);
    $expected = [[$session, 13], [$session, 14], [$another, 2]];
    sort($expected);
    same($expected, $answers, "$handler: two requests of one session, one of another");

    // A request that waits for too long gets an exception, and no session without its data.
    touch($gate);
    array_map('unlink', glob("$gate.*"));
    $long = $fpm->send($script, ['id' => $session, 'gate' => $gate]);
    wait_for(fn () => $inside($gate) === 1, 60, 'the request that holds the session');
    $answer = $fpm->request($script, ['id' => $session, 'timeout' => 0.2]);
    holds(str_contains($answer, 'Uncaught Dlock\AcquireTimeoutException: The lock "session:'), "$handler: a request that waits too long", $answer);
    unlink($gate);
    same([$session, 15], json_decode($long->response(), true), "$handler: the request that held it");

    // However a request ends, the next one acquires the session.
    holds(str_contains($fpm->request($script, ['id' => $session, 'end' => 'fatal']), 'Fatal error'), "$handler: a fatal error");
    [, $n] = json_decode($fpm->request($script, ['id' => $session]), true);
    within(16, $n, 17, "$handler: after a fatal error");
    touch($gate);
    array_map('unlink', glob("$gate.*"));
    $killed = $fpm->send($script, ['id' => $session, 'gate' => $gate, 'ttl' => 1]);
    wait_for(fn () => $inside($gate) === 1, 60, 'the request to be killed');
    posix_kill((int) substr(strrchr(glob("$gate.*")[0], '.'), 1), SIGKILL);
    unlink($gate);
    same([$session, $n + 1], json_decode($fpm->request($script, ['id' => $session]), true), "$handler: after a request was killed");
    $killed->abort();

    // A request closes its session, and continues.
    touch("$gate-closed");
    $long = $fpm->send($script, ['id' => $session, 'end' => 'close', 'closed' => "$gate-closed"]);
    wait_for(fn () => file_exists("$gate-closed.done"), 60, 'the session to be closed');
    same([$session, $n + 3], json_decode($fpm->request($script, ['id' => $session]), true), "$handler: after a session was closed");
    unlink("$gate-closed");
    same([$session, $n + 2], json_decode($long->response(), true), "$handler: the request that closed it");
    unlink("$gate-closed.done");
    $n += 2;

    // The session gets another id: the old one is gone, the new one is free.
    [$new, $n] = json_decode($fpm->request($script, ['id' => $session, 'end' => 'regenerate']), true);
    holds($new !== $session, "$handler: another id");
    same([$new, $n + 1], json_decode($fpm->request($script, ['id' => $new]), true), "$handler: the session goes on with the new id");
    [$replaced] = json_decode($fpm->request($script, ['id' => $session]), true);
    holds($replaced !== $session, "$handler: the old id is gone");

    // A request that has lost the lock does not write.
    $answer = $fpm->request($script, ['id' => $new, 'end' => 'lose', 'ttl' => 1]);
    holds(str_contains($answer, 'Failed to write session data'), "$handler: a request that lost its lock", $answer);
    same([$new, $n + 2], json_decode($fpm->request($script, ['id' => $new]), true), "$handler: what it did not write");

    $locks = new DistributedLock(redis_server());
    same([false, false], [$locks->isLocked("session:$new"), $locks->isLocked("session:$session")], "$handler: locked in the end");
    $fpm->stop();
}
echo "done\n";
?>
--EXPECT--
done
