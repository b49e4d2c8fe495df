--TEST--
inspect(), inspectAll() and "dlock show": holder and waiters in order, with host, pid, label and times; a killed waiter disappears
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
require __DIR__ . '/../inc/handover.inc';

$kinds = [
    'DistributedLock' => [fn () => new DistributedLock(redis_server(), ttl: 9), ['--server=' . redis_server()]],
    'Semaphore' => [fn () => new Dlock\Semaphore(1, redis_server(), ttl: 9), ['--server=' . redis_server(), '--class=Semaphore']],
    'RedLock' => [fn () => new RedLock(redis_servers(3), ttl: 9, prefix: 'Lock:'),
        [...array_map(fn ($server) => "--server=$server", redis_servers(3)), '--prefix=Lock:']],
];
foreach ($kinds as $name => [$make, $options]) {
    $resource = unique($name);
    $locks = $make();
    $seen = $locks->inspect($resource);
    same([[], [], 0, $resource], [$seen->holders, $seen->waiters, $seen->waiting, $seen->resource], "$name: of a free lock");
    within(time() - 3600, $seen->at, time() + 3600, "$name: the time");

    $started = unix_time();
    $holder = claimant($make, $resource, 'order 17');
    $holder_pid = $holder->hear();
    $tokens = [$holder->hear()];
    $key = ($name === 'Semaphore' ? 'Semaphore:' : 'Lock:') . $resource;
    $keeper = keep_alive(array_slice(redis_addresses(), 0, $name === 'RedLock' ? 3 : 1), $key, grants: false);
    $waiters = [];
    foreach (['GET /cart', 'ü'] as $i => $label) {
        $waiters[] = $waiter = claimant($make, $resource, $label);
        $pids[$name][] = $waiter->hear();
        wait_for_parties($locks, $resource, 1, $i + 1);
    }

    // The holder has stored its label with its first renewal.
    $seen = wait_for(fn () => ($seen = $locks->inspect($resource))->holders && $seen->holders[0]->label !== null ? $seen : null, SOON, "$name: the label");
    $mode = $name === 'Semaphore' ? 'permits' : 'lock';
    $of = fn (Dlock\Party $party) => [$party->host, $party->pid, $party->label, $party->mode, $party->permits];
    same([[gethostname(), $holder_pid, 'order 17', $mode, 1]], array_map($of, $seen->holders), "$name: the holder");
    same([[gethostname(), $pids[$name][0], 'GET /cart', $mode, 1], [gethostname(), $pids[$name][1], 'ü', $mode, 1]], array_map($of, $seen->waiters),
        "$name: the waiters, in order");
    same(2, $seen->waiting, "$name: how many wait");
    $party = $seen->holders[0];
    within($started - 0.1, $party->askedAt, $party->heldSince + 0.1, "$name: when it asked");
    within($party->askedAt - 0.1, $party->heldSince, unix_time() + 0.1, "$name: since when it holds");
    within(0, $party->remaining, 9.1, "$name: what is left of its lease");
    holds($party->fencingToken > 1e15, "$name: its fencing token", $party->fencingToken);
    holds($seen->waiters[0]->askedAt <= $seen->waiters[1]->askedAt, "$name: when they asked");
    same([null, null, null], [$seen->waiters[0]->heldSince, $seen->waiters[0]->remaining, $seen->waiters[0]->fencingToken], "$name: what a waiter has not");
    same(substr($tokens[0], 0, 24), $party->id, "$name: the id");
    if ($name === 'RedLock') {
        // The answers of a majority are enough.
        wait_for(fn () => array_values(array_unique($locks->inspect($resource)->servers)) === ['held'], SOON, 'each server to have it');
        same(3, count($seen->servers), 'how many servers');
    }

    // In the list, and by the command.
    $listed = array_values(array_filter($locks->inspectAll(1000), fn ($one) => $one->resource === $resource));
    same([1, 2], [count($listed), $listed[0]->waiting ?? null], "$name: in the list");
    $run = dlock([...$options, 'show', $resource, '--json']);
    $shown = json_decode($run->output, true);
    same([0, ''], [$run->status, $run->errors], "$name: dlock show");
    same([$party->id, $holder_pid, 'order 17'], [$shown['holders'][0]['id'], $shown['holders'][0]['pid'], $shown['holders'][0]['label']], "$name: dlock show: the holder");
    same($pids[$name], array_column($shown['waiters'], 'pid'), "$name: dlock show: the waiters");
    same(array_keys(get_object_vars($seen)), array_keys($shown), "$name: dlock show: the properties' names");
    $text = dlock([...$options, 'show', $resource])->output . dlock([...$options, 'ls'])->output . dlock([...$options, 'watch', $resource, '--count=1'])->output;
    foreach (['order 17', 'GET /cart', 'ü', "pid $holder_pid", 'waits 2'] as $word) {
        holds(str_contains($text, $word), "$name: shown: $word", $text);
    }

    // No text has a token, so none is enough to release or attach.
    $everything = serialize(json_encode([$seen, $listed])) . $run->output . $text;
    holds(!preg_match('/[0-9a-f]{32}/', $everything), "$name: no more than ids are shown", $everything);

    // A waiter that is killed disappears.
    $keeper->kill();
    $waiters[0]->kill();
    $after = wait_for_parties($locks, $resource, 1, 1);
    same($pids[$name][1], $after->waiters[0]->pid, "$name: the other one stays");
    $holder->say('go');
    same(true, $holder->result(), "$name: looking disturbs nobody");
    $waiters[1]->hear();
    same($pids[$name][1], wait_for_parties($locks, $resource, 1, 0)->holders[0]->pid, "$name: the next holder");
    $waiters[1]->say('go');
    $waiters[1]->result();
    same(1, dlock([...$options, 'show', $resource])->status, "$name: dlock show of a free lock");
}
?>
Done.
--EXPECT--
Done.
