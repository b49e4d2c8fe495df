--TEST--
Fencing tokens of RedLock rise over servers whose counters were forced apart, and over changing majorities
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$own = [redis_private(), redis_private(), redis_private()];
$dsns = array_map(fn ($server) => $server->dsn(), $own);
$last = 0;

/** Acquires and releases the lock over the named servers, with a new object, which has seen no token yet. */
$next = function (string $when, int ...$servers) use ($dsns, &$last) {
    $named = array_map(fn ($i) => in_array($i, $servers, true) ? $dsns[$i] : 'redis://127.0.0.1:' . closed_port(), [0, 1, 2]);
    $red = new RedLock($named, 5, 100);
    $lock = $red->lock('resource');
    $token = $lock['fencingToken'] ?? null;
    holds($token > $last, "$when: the token rises", $last, $token);
    holds($token < 2 ** 53, "$when: every language can hold it as a number", $token);
    same(true, $red->unlock($lock), "$when: unlock()");
    $last = $token;
};

for ($i = 0; $i < 20; $i++) {
    $next("all, $i", 0, 1, 2);
}
$next('the first two', 0, 1); // until now the others may have been the quorum each time
$fence = array_values(array_diff($own[0]->raw()->cmd('KEYS', '*'), ['resource']));
same(1, count($fence), 'keys left on a server');

// In each round one server is far ahead of the others. One majority includes it, the next does not.
foreach ([[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]] as $round => [$ahead, $both, $other]) {
    $own[$ahead]->raw()->cmd('SET', $fence[0], (string) ($last + 5_000_000_000));
    $last += 5_000_000_000;
    $next("round $round, with the one ahead", $ahead, $both);
    $next("round $round, without it", $both, $other);
    $next("round $round, with it again", $other, $ahead);
}

// The same with one object, and a server that restarts without its data.
$red = new RedLock($dsns, 5, 100);
foreach ([0, 1, 2] as $i) {
    $own[$i]->raw()->cmd('SET', $fence[0], (string) ($last + 7_000_000_000));
    $lock = $red->lock('resource');
    holds(($lock['fencingToken'] ?? 0) > $last, "with server $i ahead", $last, $lock);
    $last = $lock['fencingToken'];
    $red->unlock($lock);
    $own[$i]->restart();
    $lease = $red->acquire('resource', 20);
    holds($lease->fencingToken > $last, "after the restart of server $i", $last, $lease->fencingToken);
    $last = $lease->fencingToken;
    $lease->release();
}
echo "done\n";
?>
--EXPECT--
done
