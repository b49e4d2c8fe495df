--TEST--
inspect(), inspectAll() and "dlock show" on ZooKeeper: host, pid, label and times come from the nodes, whatever the names; other clients and dlock.describe=0 tell nothing
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/seen.inc';

$zk = zk_raw();
$root = '/' . unique('seen');
$dsn = 'zookeeper://' . zk_hosts() . "$root?session_timeout=30";
$kinds = [
    'ZkLock' => [fn () => new ZkLock(zk_hosts(), $root, sessionTimeout: 30), ['--server=' . zk_hosts(), "--root=$root"]],
    'Semaphore' => [fn () => new Dlock\Semaphore(1, $dsn), ["--server=$dsn", '--class=Semaphore']],
    'ReadWriteLock' => [fn () => (new Dlock\ReadWriteLock($dsn))->writeLock(), ["--server=$dsn", '--class=ReadWriteLock']],
];
$of = fn (Dlock\Party $party) => [$party->host, $party->pid, $party->label, $party->mode, $party->permits];
foreach ($kinds as $name => [$make, $options]) {
    $mode = ['ZkLock' => 'lock', 'Semaphore' => 'permits', 'ReadWriteLock' => 'write'][$name];
    foreach ([...($name === 'ZkLock' ? ["plain $name", str_repeat("\e", 300)] : []), "a/b\0\e[2J\x07\u{202e}\xff"] as $resource) {
        $locks = $make();
        same([[], [], 0], [$locks->inspect($resource)->holders, $locks->inspect($resource)->waiters, $locks->inspect($resource)->waiting], "$name: free");
        $started = unix_time();
        $claimants = $pids = [];
        foreach (['order 17', 'GET /cart', str_repeat('ü', 60)] as $i => $label) {
            $claimants[] = claimant($make, $resource, $label);
            $pids[] = $claimants[$i]->hear();
            wait_for_parties($locks, $resource, 1, $i);
        }
        $token = $claimants[0]->hear();
        $seen = $locks->inspect($resource);
        same([[gethostname(), $pids[0], 'order 17', $mode, 1]], array_map($of, $seen->holders), "$name: the holder");
        same([[gethostname(), $pids[1], 'GET /cart', $mode, 1], [gethostname(), $pids[2], str_repeat('ü', 60), $mode, 1]], array_map($of, $seen->waiters),
            "$name: the waiters, in order");
        $party = $seen->holders[0];
        within($started - 0.1, $party->askedAt, unix_time() + 0.1, "$name: when it asked");
        holds($party->askedAt <= $seen->waiters[0]->askedAt && $seen->waiters[0]->askedAt <= $seen->waiters[1]->askedAt, "$name: when they asked");
        holds($party->fencingToken > 0, "$name: its fencing token", $party->fencingToken);
        same([null, null, null, null], [$party->heldSince, $party->remaining, $seen->waiters[0]->remaining, $seen->waiters[0]->fencingToken], "$name: what is not known");
        same(substr($token, 0, 24), $party->id, "$name: the id");
        same([1, 0, 2], [count(($few = $locks->inspect($resource, 0))->holders), count($few->waiters), $few->waiting], "$name: no waiters in detail");

        // The list has only locks of this kind, by their own names.
        $listed = $locks->inspectAll();
        same([[$resource, 2, [gethostname(), $pids[0], 'order 17', $mode, 1]]],
            array_map(fn (Dlock\Inspection $one) => [$one->resource, $one->waiting, $of($one->holders[0])], $listed), "$name: in the list");
        if (!str_contains($resource, "\0")) { // no argument of a command contains one
            $run = dlock([...$options, 'show', $resource, '--json']);
            $shown = json_decode($run->output, true);
            same([0, '', $pids[0], array_slice($pids, 1)], [$run->status, $run->errors, $shown['holders'][0]['pid'], array_column($shown['waiters'], 'pid')], "$name: dlock show");
            $text = dlock([...$options, 'show', $resource])->output;
        } else {
            $text = 'order 17, GET /cart';
        }
        $text .= dlock([...$options, 'ls'])->output . dlock([...$options, 'watch', '--count=1'])->output;
        foreach (['order 17', 'GET /cart', "pid $pids[0]"] as $word) {
            holds(str_contains($text, $word), "$name: shown: $word", $text);
        }
        holds(!preg_match('/[\x00-\x09\x0b-\x1f\x7f]|\xe2\x80\xae|\xff/', $text), "$name: no control characters", $text);
        holds(!preg_match('/[0-9a-f]{32}/', $text . json_encode([$seen, $listed], JSON_INVALID_UTF8_SUBSTITUTE)), "$name: no more than ids are shown", $text);
        foreach ([0, 1, 2] as $i) {
            $claimants[$i]->say('go');
            same(true, $claimants[$i]->result(), "$name: looking disturbs nobody");
        }
        wait_for_parties($locks, $resource, 0, 0);
    }
}

// Another client's node has an age; its data is not read as a description.
$locks = $kinds['ZkLock'][0]();
$zk->create("$root/foreign");
$zk->create("$root/foreign/lock-", "box \e]0;x\x07", ZkRaw::EPHEMERAL | ZkRaw::SEQUENCE);
$party = $locks->inspect('foreign')->holders[0];
same(['', '', 0, null, null], [$party->id, $party->host, $party->pid, $party->label, $party->remaining], "another client's node");
holds($party->askedAt !== null && $party->fencingToken > 0, 'its age', $party->askedAt);
same(['foreign'], array_column($locks->inspectAll(), 'resource'), 'in the list');

// A process with dlock.describe=0 writes no description.
$script = temporary_directory() . '/holds.php';
file_put_contents($script, '<?php $lease = (new ZkLock(' . var_export(zk_hosts(), true) . ', ' . var_export($root, true) . '))->acquire("silent");
    $data = ' . var_export($root, true) . '; echo implode(",", get_object_vars((new ZkLock(' . var_export(zk_hosts(), true) . ', $data))->inspect("silent")->holders[0]) + ["label" => ""]);');
$words = explode(',', (new DoctorRun([], '-d dlock.describe=0', script: $script))->output);
same(['', '0', '', 'lock'], array_slice($words, 1, 4), 'dlock.describe=0');
?>
Done.
--EXPECT--
Done.
