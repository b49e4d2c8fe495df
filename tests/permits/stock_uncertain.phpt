--TEST--
A stock whose master may have forgotten sales reports it from the first call on: counts(), reservations, stats(); not after a failover that forgot nothing
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/lua.inc';
require __DIR__ . '/../inc/replicated.inc';

/** A master with two replicas that are in sync. @return list<ReplicatedRedis> */
function three(): array
{
    $servers = array_map(fn () => new ReplicatedRedis(['save ""', 'appendonly yes', 'repl-diskless-sync-delay 0']), range(1, 3));
    $servers[1]->follow($servers[0]);
    $servers[2]->follow($servers[0]);
    return $servers;
}

function stock_at(ReplicatedRedis $server, string $options = 'replicas=1'): Dlock\Stock
{
    return new Dlock\Stock("redis://{$server->address()}?$options");
}

function sell(Dlock\Stock $stock, int $first, int $last): array
{
    $uncertain = [];
    for ($i = $first; $i <= $last; $i++) {
        $reservation = $stock->reserve('shoe', "b$i", "o$i");
        $uncertain[] = $reservation->uncertain;
        same(true, $reservation->confirm(), "sale $i");
        $uncertain[] = $reservation->uncertain;
    }
    return $uncertain;
}

function has_all(ReplicatedRedis $replica, ReplicatedRedis $master): void
{
    $offset = fn (ReplicatedRedis $server, string $field) => (int) $server->info('replication')[$field];
    wait_for(fn () => $offset($replica, 'slave_repl_offset') >= $offset($master, 'master_repl_offset'), 60, 'a replica to have all');
}

// The master and one replica are cut off; the other replica is promoted. A replica acknowledges everything.
[$old, $with, $new] = three();
$stock = stock_at($old);
same(100, $stock->restock('shoe', 100, 'opening'), 'put in');
same([null, null], array_slice(sell($stock, 1, 1), 0), 'sold while all are there');
has_all($new, $old);
$new->raw()->cmd('REPLICAOF', 'NO', 'ONE');
same([null], array_unique(sell($stock, 2, 100)), 'sold by those that are cut off');
same([100, null], [$stock->counts('shoe')['sold'], $stock->counts('shoe')['uncertain']], 'sold out there');
same(0, Dlock\stats()['stocks_uncertain'], 'nobody knows better');
$with->follow($new);
$after = stock_at($new);
holds(!in_array(null, sell($after, 101, 106), true), 'the first calls after the switch say so: 6 sales of the same units');
$counts = $after->counts('shoe');
holds(is_float($counts['uncertain']) && abs($counts['uncertain'] - time()) < 600, 'and the counts', $counts);
same([7, 93], [$counts['sold'], $counts['available']], '106 sales of 100 units were confirmed, of which the new master knows 7');
same(1, Dlock\stats()['stocks_uncertain'], 'in stats(), once');
holds($after->counts('shoe', confirmed: true)['uncertain'] === $counts['uncertain'], 'since the same time', $counts);
$old->follow($new);
holds($after->counts('shoe')['uncertain'] > $counts['uncertain'], 'and when the old master is back, which may have sold until now', $counts);
same(2, Dlock\stats()['stocks_uncertain'], 'once more');

// A replica returns, and the master dies; the two that are left have everything.
[$old, $with, $new] = three();
$stock = stock_at($old);
$stock->restock('shoe', 100, 'opening');
sell($stock, 1, 3);
$with->restart();
$with->follow($old);
same([null], array_unique(sell($stock, 4, 6)), 'a replica was restarted');
has_all($new, $old);
has_all($with, $old);
$old->kill();
$new->raw()->cmd('REPLICAOF', 'NO', 'ONE');
$with->follow($new);
$after = stock_at($new);
same([null], array_unique(sell($after, 7, 9)), 'the new master has all that was sold');
same([9, null], [$after->counts('shoe')['sold'], $after->counts('shoe')['uncertain']], 'and says so');
same(2, Dlock\stats()['stocks_uncertain'], 'as before');

// A replica that was restarted may have old data.
has_all($with, $new);
$new->kill();
wait_for(fn () => array_intersect_key($with->info('persistence'), ['aof_rewrite_in_progress' => 0, 'aof_rewrite_scheduled' => 0])
    === ['aof_rewrite_in_progress' => '0', 'aof_rewrite_scheduled' => '0'], 60, 'its data to be written');
$with->restart();
$with->raw()->cmd('REPLICAOF', 'NO', 'ONE');
holds(is_float(stock_at($with)->counts('shoe')['uncertain']), 'one that is left, restarted');
same(3, Dlock\stats()['stocks_uncertain'], 'again');

// While the nodes have not answered yet, a replica comes from another master, which may have sold until then.
[$master, $with] = three();
$redis = $master->raw();
$text = script('stock_lineage');
foreach (['what it has forgotten is known' => ['100', '100'], 'it may have forgotten nothing' => ['100', '50'], 'they have never answered' => ['0', '0']] as $what => [$since, $before]) {
    $replid = $master->info('replication')['master_replid'];
    $redis->cmd('SET', 'lineage', "$replid 0 $since $before 0 0 0 ");
    same('0', (string) $redis->cmd('EVAL', $text, 1, 'lineage', '', '', '', '')[0], "$what: open");
    $known = $before === $since;
    [, , $since, $kept] = explode(' ', $redis->cmd('GET', 'lineage'));
    holds($since > time() * 1000 - 600_000 && $kept === ($known ? $since : $before), $what, $since, $kept);
}
echo "done\n";
?>
--EXPECT--
done
