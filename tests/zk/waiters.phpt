--TEST--
ZkLock serves waiters in their order; each watches only the one before it, and a release wakes one
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

$server = zk_private();
$zk = $server->raw();
$session = $zk->sessionId;
$resource = unique();
$n = 6;
// Long sessions, so that there is almost no traffic except for the locks.
$holder = zk_waiter($server->hosts(), $resource, 60);
same('held', $holder->hear(), 'the holder');
same(0, zk_watch_count($server->hosts()), 'watches of the holder');
$waiters = [];
for ($i = 0; $i < $n; $i++) {
    $waiters[$i] = zk_waiter($server->hosts(), $resource, 60);
    wait_for_nodes($zk, $i + 2, $resource);
    wait_for(fn () => zk_watch_count($server->hosts()) === $i + 1, 60, 'its watch');
}
$nodes = zk_nodes($zk, $resource);
$owners = array_map(fn ($node) => $zk->exists("/locks/$resource/$node")['ephemeralOwner'], $nodes);
$expected = [];
foreach ($owners as $i => $owner) {
    if ($i > 0) {
        $expected["/locks/$resource/" . $nodes[$i - 1]] = [$owner];
    }
}
$watches = zk_watches($server->hosts());
ksort($watches);
ksort($expected);
same($expected, $watches, 'each watches the one before it');

/* For each session the requests that the server has received, and the packets that it has sent beyond their replies:
   notifications. (Pings and probes have replies.) */
$traffic = fn (): array => array_map(
    fn (array $one) => [$one['received'], $one['sent'] - $one['received']],
    array_intersect_key(zk_sessions($server->hosts()), array_flip($owners)),
);
array_unshift($waiters, $holder);
for ($i = 0; $i < $n; $i++) {
    $before = $traffic();
    $waiters[$i]->say('release');
    same('held', $waiters[$i + 1]->hear(), "waiter $i");
    same(true, $waiters[$i]->result(), "release() of $i");
    for ($k = $i + 1; $k <= $n; $k++) {
        $is_next = $k === $i + 1;
        // The server may count a reply later than its request; a surplus notification would stay.
        $after = wait_for(function () use ($traffic, $owners, $k, $is_next) {
            $now = $traffic();
            return $now[$owners[$k]][1] === (int) $is_next ? $now : false;
        }, 60, "notifications of $k after release $i");
        within((int) $is_next, $after[$owners[$k]][0] - $before[$owners[$k]][0], $is_next ? 4 : 2, "requests of $k after release $i");
    }
    same($n - $i - 1, zk_watch_count($server->hosts()), "watches after release $i");
}
$waiters[$n]->say('release');
same(true, $waiters[$n]->result(), 'the last release()');
same([], zk_nodes($zk, $resource), 'nodes at the end');

// A waiter in the middle dies, and another gives up: those behind them neither pass others nor lose their place.
$holder = zk_waiter($server->hosts(), $resource, 60);
$holder->hear();
$giving_up = fork_child(function () use ($server, $resource) {
    pcntl_async_signals(true);
    pcntl_signal(SIGUSR1, fn () => throw new LogicException('gives up'));
    return thrown_by(fn () => (new ZkLock($server->hosts()))->lock($resource, 60))?->getMessage();
});
wait_for_nodes($zk, 2, $resource);
$dying = zk_waiter($server->hosts(), $resource, 6);
wait_for_nodes($zk, 3, $resource);
$patient = zk_waiter($server->hosts(), $resource, 60);
wait_for_nodes($zk, 4, $resource);
$last = zk_waiter($server->hosts(), $resource, 60);
wait_for_nodes($zk, 5, $resource);
$dying->kill();
$giving_up->signal(SIGUSR1);
same('gives up', $giving_up->result(), 'the one that gives up');
wait_for_nodes($zk, 3, $resource);
$nodes = zk_nodes($zk, $resource);
$expected = array_map(fn ($node) => "/locks/$resource/$node", array_slice($nodes, 0, 2));
wait_for(function () use ($server, $expected) {
    $paths = array_keys(zk_watches($server->hosts()));
    sort($paths);
    return $paths == $expected || (sort($expected) && $paths == $expected);
}, 60, 'the watch of the one behind them');
$holder->say('release');
same('held', $patient->hear(), 'the one behind them');
$patient->say('release');
same('held', $last->hear(), 'the last one');
$last->say('release');
same([true, true, true], [$holder->result(), $patient->result(), $last->result()], 'release()');
echo "done\n";
?>
--EXPECT--
done
