--TEST--
Stock: buyers are killed before they buy, and a server is killed and returns with its data
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require_once __DIR__ . '/../inc/relay.inc';

use Dlock\ConnectionException;
use Dlock\Stock;

$server = redis_private(['appendonly yes', 'appendfsync always']);
$stock = new Stock($server->dsn());
function counts(): array
{
    global $stock;
    return array_slice(array_values($stock->counts('shoe')), 1, 4);
}

// Killed between reserve and confirm: the units stay reserved for their time, and are found by the order's name.
$stock->restock('shoe', 2);
$buyer = fork_child(function (callable $say) use ($server) {
    $stock = new Stock($server->dsn());
    $stock->reserve('shoe', 'ann', 'r1');
    $say($stock->reserve('shoe', 'ann', 'r2')->fencingToken);
    block_for_ever();
});
function block_for_ever(): never
{
    while (true) {
        pause(1);
    }
}
$token = $buyer->hear();
$buyer->kill();
same([0, 2, 0, 0], counts(), 'killed: both are reserved');
$ends = $server->raw()->cmd('TIME')[0] * 1000 + 1000; // the time of one is over soon
$server->raw()->cmd('ZADD', 'Stock:shoe', $ends, 'hann/r1', -$ends, '$next');
$bob = $stock->reserve('shoe', 'bob', 'r1', 60);
same(['shoe' => 1], $bob->items, 'the one whose time is over goes to the first waiter');
same(true, $stock->reservation('shoe', 'ann', 'r2')->confirm(), 'the other is bought by another process');
same([0, 1, 1, 0], counts(), 'one reserved, one sold');

// The server is killed, and returns with its data.
$server->kill();
foreach (['confirm', 'cancel', 'extend'] as $call) {
    fails(ConnectionException::class, 'Redis at 127.0.0.1:*', fn () => $bob->$call(), $call);
}
$server->restart();
same([0, 1, 1, 0], counts(), 'nothing was forgotten');
same([true, false], [$bob->confirm(), $bob->confirm()], 'asked again');
same(false, $stock->reservation('shoe', 'ann', 'r2')->confirm(), 'what was bought');
same(2, $stock->restock('shoe', 2, 'second'), 'more');
$server->restart();
same(2, $stock->restock('shoe', 2, 'second'), 'a change is not forgotten');
same([2, 0, 2, 0], counts(), 'so it is made once');
$next = $stock->reserve('shoe', 'cid', 'r');
holds($next->fencingToken > $token, 'fencing tokens rise over a restart', $next->fencingToken, $token);

// Objects from before a fork work in the child, over its own connection.
$inherited = $stock->reserve('shoe', 'gil', 'r');
$children = fork_run(3, fn (int $i) => [$i, array_sum(array_slice($stock->counts('shoe'), 1)), $i === 1 ? $inherited->cancel() : $inherited->buyer]);
same([[0, 4, 'gil'], [1, 4, true], [2, 4, 'gil']], $children, 'in three children at a time');
same(false, $inherited->cancel(), 'given back by a child');

// A waiter whose process was killed delays the next one only for a moment.
$stock->reserve('shoe', 'dan', 'r');
$dead = fork_child(fn () => (new Stock($server->dsn()))->reserve('shoe', 'eve', 'r', 60));
wait_for(fn () => counts()[3] === 1, 60, 'it to wait');
$waiter = fork_child(fn () => [(new Stock($server->dsn()))->reserve('shoe', 'fay', 'r', 60)?->buyer, now()]);
wait_for(fn () => counts()[3] === 2, 60, 'both to wait');
$dead->kill();
$start = now();
$next->cancel();
[$who, $at] = $waiter->result();
same('fay', $who, 'the one behind it');
within(0, $at - $start, SOON, 'soon');
same([0, 2, 2, 0], counts(), 'nobody waits');

// An answer is lost: confirm() asks again, and returns true only if its first request may have done it.
$relay = relay($server->address());
$stock = new Stock("redis://{$relay->address()}", 'lost:');
$stock->restock('shoe', 2);
[$now, $before] = [$stock->reserve('shoe', 'ann', 'now'), $stock->reserve('shoe', 'ann', 'before')];
$server->raw()->cmd('ZADD', 'lost:shoe', 1e13 + (time() - 3600) * 1000, 'hann/before'); // another process did, an hour ago
foreach (['in this call' => [$now, true], 'an hour ago' => [$before, false]] as $when => [$order, $by_this]) {
    $relay->order(0, ['swallow' => 1]);
    same($by_this, $order->confirm(), "an answer is lost, and it was bought $when");
}
$relay->order(0, ['swallow' => 1]);
same(true, $now->refund(), 'the answer to a refund is lost');
same(false, $now->refund(), 'made before');
echo "done\n";
?>
--EXPECT--
done
