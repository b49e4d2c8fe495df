--TEST--
ZkLock on an ensemble: locks and waiters survive the loss of the leader, and there are never two holders
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

$ensemble = zk_ensemble();
$hosts = $ensemble->hosts();
$resource = unique();
$log = temporary_directory() . '/log';
// Holds the lock and looks at it all the time, until it is told to release it; logs the periods in which it relied on
// it.
$client = fn (string $name) => fork_child(function (callable $say) use ($hosts, $resource, $log, $name) {
    pcntl_async_signals(true);
    $go_on = true;
    pcntl_signal(SIGUSR1, function () use (&$go_on) {
        $go_on = false;
    });
    $lease = (new ZkLock($hosts, sessionTimeout: 20))->acquire($resource, 120);
    $from = now();
    $say([$lease->fencingToken, $lease->token]);
    $states = [];
    do {
        $until = now();
        $held = $lease->isHeld();
        $states[$lease->state()->name] = true;
        pause(0.01);
    } while ($held && $go_on);
    file_put_contents($log, "$from $until $name\n", FILE_APPEND);
    return [$held, array_keys($states), $lease->release()];
});
$nodes = function () use ($ensemble, $hosts, $resource) {
    $zk = zk_raw($hosts);
    $zk->sync('/');
    $nodes = zk_nodes($zk, $resource);
    $zk->close();
    return $nodes;
};
$clients = [];
for ($i = 0; $i < 5; $i++) {
    $clients[$i] = $client("client $i");
    wait_for(fn () => count($nodes()) === $i + 1, 60, 'the next in line');
}
[$token, $guid] = $clients[0]->hear(60);
$line = $nodes();
$tokens = [$token];

$killed = $ensemble->killLeader();
$ensemble->leader(); // there is a new leader
same($line, wait_for(function () use ($nodes) {
    try {
        return $nodes();
    } catch (RuntimeException) {
        return false; // it does not serve yet
    }
}, 60, 'the ensemble to serve'), 'the line after the loss of the leader');
holds(str_contains($line[0], $guid), 'the holder is first in line');
$clients[0]->signal(SIGUSR1);
[$held, $states, $released] = $clients[0]->result(120);
same([true, true], [$held, $released], 'the holder: still held, release()');
holds(!in_array('Lost', $states, true), 'its states', $states);
[$tokens[]] = $clients[1]->hear(120);

// Again, with all members, and the waiters on any of them.
$ensemble->restart($killed);
$ensemble->killLeader();
$ensemble->leader();
for ($i = 1; $i < 5; $i++) {
    $clients[$i]->signal(SIGUSR1);
    [$held, $states, $released] = $clients[$i]->result(120);
    same([true, true], [$held, $released], "client $i: still held, release()");
    if ($i < 4) {
        [$tokens[]] = $clients[$i + 1]->hear(120);
    }
}
$rising = $tokens;
sort($rising);
same($rising, $tokens, 'fencing tokens in the order of holders');
same(5, count(array_unique($tokens)), 'different ones');
$end = 0;
foreach (file($log, FILE_IGNORE_NEW_LINES) as $i => $line) {
    [$from, $until, $name] = explode(' ', $line, 3);
    same("client $i", $name, 'the order of holders');
    holds((float) $from > $end, "$name came after the one before it");
    $end = (float) $until;
}
same([], $nodes(), 'nodes at the end');
echo "done\n";
?>
--EXPECT--
done
