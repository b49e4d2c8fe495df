--TEST--
"dlock break": the holder is told, the next client acquires the lock when the lease has ended, and no holder is broken by mistake
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/seen.inc';

$kinds = [
    'DistributedLock' => [fn () => new DistributedLock(redis_server(), ttl: 6), ['--server=' . redis_server()]],
    'Semaphore' => [fn () => new Dlock\Semaphore(1, redis_server(), ttl: 6), ['--server=' . redis_server(), '--class=Semaphore']],
    'RedLock' => [fn () => new RedLock(redis_servers(3), ttl: 6, prefix: 'Lock:'),
        [...array_map(fn ($server) => "--server=$server", redis_servers(3)), '--prefix=Lock:']],
];
foreach ($kinds as $name => [$make, $options]) {
    $resource = unique($name);
    $locks = $make();
    $lost = fork_child(static function (callable $say, callable $hear) use ($make, $resource) {
        $lease = $make()->acquire($resource);
        $say($lease->token);
        wait_for(function () use ($lease, &$until) {
            [$now, $left] = [now(), $lease->remaining()];
            $until = $left > 0 ? $now + $left : $until; // so long it believes that it holds
            return !$lease->isHeld();
        }, 60, 'the loss');
        return [min($until, now()), $lease->release()];
    });
    $token = $lost->hear();
    $next = claimant($make, $resource, 'next');
    $next->hear();
    $id = wait_for_parties($locks, $resource, 1, 1)->holders[0]->id;

    same(2, dlock([...$options, 'break', $resource])->status, "$name: without an id");
    same(3, dlock([...$options, 'break', $resource, '--id=' . str_repeat('0', 24)])->status, "$name: another id");
    $run = dlock([...$options, 'break', $resource, "--id=$id", '--json']);
    same([0, ''], [$run->status, $run->errors], "$name: broken");
    within(0.001, json_decode($run->output, true)['freeIn'], 6.1, "$name: when it is free");
    same(3, dlock([...$options, 'break', $resource, "--id=$id"])->status, "$name: once more");
    $left = $locks->inspect($resource)->holders[0] ?? null;
    holds($left === null || str_starts_with((string) $left->label, 'broken by ') || $left->label === null, "$name: what is left of it", $left?->label);

    $next->hear();
    $had = now();
    [$until, $released] = $lost->result();
    holds($until < $had, "$name: the old holder knows before there is a new one", $until, $had);
    same(false, $released, "$name: it has nothing to release");
    $next->say('go');
    same(true, $next->result(), "$name: the next holder's lease is its own");

    // The lock is free at once if the name is typed or --yes is given.
    $lease = $locks->acquire($resource, ttl: 3600);
    $id = $locks->inspect($resource)->holders[0]->id;
    same(1, dlock([...$options, 'break', $resource, "--id=$id", '--now'], "no\n")->status, "$name: --now, not meant");
    same(true, $lease->isHeld(), "$name: then it is held");
    $run = dlock([...$options, 'break', $resource, "--id=$id", '--now'], "$resource\n");
    same(0, $run->status, "$name: --now");
    holds(str_contains($run->errors, 'may still write until'), "$name: --now warns", $run->errors);
    same(false, $locks->inspect($resource)->holders !== [], "$name: it is free at once");
    same(false, $lease->release(), "$name: it was lost");
}

// If a client waits, it acquires the lock at once, long before an unused grant would end.
foreach ($kinds as $name => [$make, $options]) {
    $most = $name === 'Semaphore' ? 60 : 2.2;
    for ($attempt = 1, $took = INF; $took > $most && $attempt <= 10; $attempt++) { // a machine may stand still
        $resource = unique("$name-now-$attempt");
        $locks = $make();
        $lease = $locks->acquire($resource, ttl: 3600);
        $next = claimant($make, $resource, 'next');
        $next->hear();
        $id = wait_for_parties($locks, $resource, 1, 1)->holders[0]->id;
        pause(0.1); // the refused attempt has ended
        $broken = now();
        Dlock\break_lock($locks, $resource, $id, 'me', true);
        $next->hear();
        $took = now() - $broken;
        $next->say('go');
        same([true, false], [$next->result(), $lease->release()], "$name: it has it alone");
    }
    within(0, $took, $most, "$name: --now, and the next one has it");
}

// Another program's lock without end can only be broken at once.
$redis = redis_raw();
$redis->cmd('SET', 'Lock:' . unique('foreign'), 'secret of another program');
$locks = new DistributedLock(redis_server());
$holder = $locks->inspect(unique('foreign'))->holders[0];
same(['', 0, null, null, null], [$holder->host, $holder->pid, $holder->label, $holder->askedAt, $holder->remaining], "another program's lock");
same(24, strlen($holder->id), 'its id');
$run = dlock(['--server=' . redis_server(), 'break', unique('foreign'), "--id=$holder->id"]);
same(4, $run->status, 'it never ends');
holds(str_contains($run->errors, 'no lease time'), 'it never ends', $run->errors);
same(0, dlock(['--server=' . redis_server(), 'break', unique('foreign'), "--id=$holder->id", '--now', '--yes'])->status, 'at once');
same(null, $redis->cmd('GET', 'Lock:' . unique('foreign')), 'it is gone');
?>
Done.
--EXPECT--
Done.
