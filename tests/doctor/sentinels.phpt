--TEST--
dlock-doctor examines Sentinels, the master that they name and its replicas
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';
require __DIR__ . '/../inc/replicated.inc';

$set = new SentinelSet(3, 'secret', config: ['min-replicas-to-write 1']);
$guarded = $set->dsn(['guard' => 6, 'replicas' => 2]);
$ttl = '--ttl=6';
$texts = finds(['unsettled' => 'warning'], [$guarded, $ttl], 'a new set');
holds(preg_match('/no lock is granted for another [0-6]\.\d s/', $texts['unsettled'] ?? '') === 1, 'a new set', $texts);
wait_for(fn () => doctor([$guarded, $ttl])->status === 0, 60, 'the epoch to settle');
$run = new DoctorRun([$guarded, $ttl]);
holds(preg_match('/^All is well: DistributedLock on mymaster at [\d.:,]+ \(4 servers\), Redis [\d.]+, round trips/', $run->output) === 1, 'one line', $run->output);
same(['dlock:era', 'dlock:fence'], what_stays($set->master()->raw()), 'what is left');

// How many replicas must acknowledge.
$texts = finds(['few-replicas' => 'problem'], [$set->dsn(['guard' => 6, 'replicas' => 4]), $ttl], 'four of three');
holds(str_contains($texts['few-replicas'] ?? '', 'has 3 replicas, and 4 must acknowledge'), 'four of three', $texts);
finds(['few-replicas' => 'warning'], [$set->dsn(['guard' => 6, 'replicas' => 3]), $ttl], 'three of three');
$texts = finds(['confirmations' => 'warning'], [$set->dsn(['guard' => 6]), $ttl], 'one of three');
holds(str_contains($texts['confirmations'] ?? '', 'is one of 4 servers, and 1 replica has to acknowledge') && str_contains($texts['confirmations'], 'Set replicas=2'), 'one of three', $texts);
$set->master()->raw()->cmd('CONFIG', 'SET', 'min-replicas-to-write', '0');
finds(['min-replicas' => 'note'], [$guarded, $ttl], 'a master that writes alone');
$set->master()->raw()->cmd('CONFIG', 'SET', 'min-replicas-to-write', '1');
finds(['persistence' => 'note', 'replicas' => 'warning'], [$set->dsn(['replicas' => 0]), $ttl], 'none');
finds(['guard' => 'problem'], [$guarded, '--ttl=30'], 'leases longer than the guard');
$texts = finds(['down-after' => 'warning', 'guard' => 'problem', 'guards-differ' => 'warning'], [$set->dsn(['guard' => 2, 'replicas' => 2]), '--ttl=3'], 'short leases');
holds(str_contains($texts['guards-differ'] ?? '', 'has a guard of 6 s, and this specification one of 2 s.') && str_contains($texts['guards-differ'], 'Set guard=6 '), 'another guard', $texts);
holds(str_contains($texts['down-after'] ?? '', 'after 1 s (down-after-milliseconds), and leases last 3 s'), 'short leases', $texts);
finds([], ["redis://:secret@{$set->master()->address()}?replicas=2&guard=6", $ttl], 'the master by its address');
$texts = finds(['persistence' => 'note', 'replicas' => 'warning'], ["redis://:secret@{$set->master()->address()}", $ttl], 'without confirmation');
holds(str_contains($texts['replicas'] ?? '', 'replicas=2'), 'the way out', $texts);

// Sentinels.
$sentinels = array_map(fn (ReplicatedRedis $sentinel) => $sentinel->address(), $set->sentinels);
$of = fn (string $hosts, string $service = 'mymaster', string $password = 'secret') => "sentinel://:secret@$hosts/$service?guard=6&replicas=2&sentinel_password=$password";
finds(['one-of-many' => 'warning'], [$of($sentinels[0]), $ttl], 'one of three');
$texts = finds(['unreachable' => 'warning'], [$of("127.0.0.1:1,$sentinels[0],$sentinels[1]"), $ttl], 'one that is down');
finds(['unreachable' => 'problem'], [$of('127.0.0.1:1,127.0.0.1:2'), $ttl], 'none');
finds(['service' => 'problem'], [$of("$sentinels[0],$sentinels[1]", 'other'), $ttl], 'a service that nobody knows');
$texts = finds(['password' => 'problem'], [$of("$sentinels[0],$sentinels[1]", password: 'hush'), $ttl], 'another password');
holds(!str_contains(implode($texts), 'hush'), 'no password', $texts);
finds(['rights' => 'warning'], [$of("$sentinels[0],$sentinels[1],{$set->master()->address()}"), $ttl], 'a server that is no Sentinel');
$first = $set->sentinels[0]->raw();
$first->cmd('SENTINEL', 'SET', 'mymaster', 'quorum', '3');
finds(['quorum' => 'warning'], [$guarded, $ttl], 'a quorum of all');
$first->cmd('SENTINEL', 'SET', 'mymaster', 'quorum', '2');
$first->cmd('SENTINEL', 'REMOVE', 'mymaster');
$first->cmd('SENTINEL', 'MONITOR', 'mymaster', '127.0.0.1', '1', '2');
$texts = finds(['disagree' => 'warning'], [$guarded, $ttl], 'one that watches over something else');
holds(str_contains($texts['disagree'] ?? '', '127.0.0.1:1'), 'who it names', $texts);

// Servers.
$two = "$sentinels[1],$sentinels[2]";
$replica = $set->replicas()[0];
$replica->raw()->cmd('CONFIG', 'SET', 'maxmemory', '1gb');
$replica->raw()->cmd('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
$texts = finds(['eviction' => 'warning'], [$of($two), $ttl], 'a replica that evicts');
holds(str_contains($texts['eviction'] ?? '', 'may be promoted. Then: '), 'a replica that evicts', $texts);
$replica->raw()->cmd('CONFIG', 'SET', 'maxmemory', '0');
$replica->raw()->cmd('CONFIG', 'SET', 'replica-priority', '0');
wait_for(fn () => in_array('priority', array_column(doctor([$of($two), $ttl])->findings(), 'id'), true), 60, 'Sentinels to see the priority');
$replica->raw()->cmd('ACL', 'SETUSER', 'default', '>another', '<secret');
$texts = finds(['password' => 'warning', 'priority' => 'note'], [$of($two), $ttl], 'a replica with another password');
holds(str_contains($texts['password'] ?? '', 'It is a replica, and may be promoted.'), 'a replica with another password', $texts);
$master = $set->master()->raw();
$master->cmd('ACL', 'SETUSER', 'locks', 'on', '>secret', '~*', '&*', '+@all', '-wait');
$set->replicas()[0]->raw();
$texts = finds(['rights' => 'problem'], ["redis://locks:secret@{$set->master()->address()}?replicas=2&guard=6", $ttl], 'without WAIT');
holds(str_contains($texts['rights'] ?? '', 'no right to wait.') && str_contains($texts['rights'], '+info +wait'), 'without WAIT', $texts);
$master->cmd('ACL', 'SETUSER', 'locks', '+wait', '-info');
$texts = finds(['rights' => 'problem', 'unseen' => 'note'], ["redis://locks:secret@{$set->master()->address()}?replicas=2&guard=6", $ttl], 'without INFO');
holds(str_contains($texts['rights'] ?? '', 'no right to info.'), 'without INFO', $texts);
echo "done\n";
?>
--EXPECT--
done
