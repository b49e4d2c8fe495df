--TEST--
The command dlock switch: a planned failover behind Sentinels and in a cluster, after which locks are granted without the guard; what it refuses
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/seen.inc';
require __DIR__ . '/../inc/replicated.inc';

function switch_at(string $dsn, string ...$arguments): DoctorRun
{
    return dlock(["--server=$dsn", '--timeout=120', 'switch', ...$arguments]);
}

/**
 * How a first switch and a second one report their steps; the second waits until the servers have been up for long
 * enough.
 */
function same_steps(DoctorRun $run, string $from, string $to, string $what): void
{
    same([0, ''], [$run->status, $run->errors], $what);
    holds(preg_match("/^$from is the master\n(waits until \\S+ has been up for \\S+ s\n)*$to is the master now\nlocks are granted again, [\\d.]+ s after writes were paused\n$/D",
        $run->output) === 1, $what, $run->output);
}

/** Were its clients told to continue while it was a master? Looks until it is no master. */
function goes_on_as_master(ReplicatedRedis $server, callable $say): bool
{
    $redis = $server->raw();
    $say('looks');
    try {
        return wait_for(function () use ($redis) {
            $info = $redis->cmd('INFO', 'everything');
            return str_contains($info, "\nrole:slave") ? 'demoted' : (str_contains($info, 'cmdstat_client|unpause') ? 'goes on' : null);
        }, 120, 'it to be demoted') === 'goes on';
    } catch (RuntimeException) { // then Sentinels close its connections
        return false;
    }
}

// Behind Sentinels.
$set = new SentinelSet(downAfter: 60_000);
$dsn = $set->dsn(['guard' => 3]);
$from = $set->master()->address();
$watcher = fork_child(goes_on_as_master(...), [$set->master()]);
$watcher->hear();
$run = switch_at($dsn, '--json');
same([0, ''], [$run->status, $run->errors], 'switch');
same(false, $watcher->result(120), 'the old master is not told to go on before it is demoted');
$done = json_decode($run->output, true, flags: JSON_THROW_ON_ERROR);
same([$from, $set->master()->address()], [$done['from'], $done['to']], 'from one to another');
holds($done['to'] !== $from && $done['granted'] >= $done['writesPaused'], 'how long it took', $done);
$set->waitUntilWell(60);
$server = $set->at((int) explode(':', $from)[1]);
same('10', $server->raw()->cmd('CONFIG', 'GET', 'repl-ping-replica-period')[1], 'the setting is as before');

// In a cluster.
$cluster = new ClusterSet(timeout: 60_000);
$dsn = $cluster->dsn(['guard' => 3]);
$master = $cluster->masterOf(0);
$replica = $cluster->replicaOf($master);
same_steps(switch_at($dsn, $master->address()), $master->address(), $replica->address(), 'switch in a cluster');
same($replica->port, $cluster->masterOf(0)->port, 'who serves its slots now');
$run = switch_at($dsn, $master->address());
same([2, true], [$run->status, str_contains($run->errors, "{$master->address()} is not the address of a master")], 'a replica');

// The command says what it cannot do, and changes nothing.
same(2, switch_at($dsn)->status, 'in a cluster without a node');
same(2, switch_at(redis_server())->status, 'one server');
same(4, switch_at('sentinel://127.0.0.1:1/mymaster')->status === 1 ? 4 : -1, 'no Sentinel');
$run = dlock(["--server={$cluster->dsn(['guard' => 3000])}", '--timeout=0', 'switch', $replica->address()]);
same([1, true], [$run->status, str_contains($run->errors, 'to be up for')], 'a server that has not been up for long');
same(true, $replica->isMaster(), 'nothing was done');
$replica->raw()->cmd('ACL', 'SETUSER', 'locks', 'on', '>s3cret', '~*', '&*', '+@all', '-client|pause');
$run = switch_at(str_replace('cluster://', 'cluster://locks:s3cret@', $dsn), $replica->address());
same([1, true], [$run->status, (bool) preg_match('/NOPERM|WRONGPASS|permission/', $run->errors)], 'without the right to pause');
hides(['s3cret'], $run->output . $run->errors, 'the password');
echo "done\n";
?>
--EXPECT--
done
