--TEST--
A script keeps a master busy until its Sentinels replace it: a wait continues at the new master
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/replicated.inc';

$set = new SentinelSet(config: ['lua-time-limit 100']);
$old = $set->master();
$locks = new DistributedLock($set->dsn(['guard' => 3, 'read_timeout' => 60]), ttl: 3);
same(false, $locks->isLocked('r'), 'a connection to the master');

// Redis does not kill a script that has written, so this one runs until its server is killed.
$busy = $old->raw();
$busy->send('EVAL', "redis.call('SET', 'x', 1) while redis.call('TIME')[1] ~= '0' do end", 0);
wait_for(fn () => str_contains((string) thrown_by(fn () => $old->raw()->cmd('GET', 'x'))?->getMessage(), 'BUSY '), 60, 'the master to be busy');
holds(patiently(fn () => $locks->acquire('r', 600))->fencingToken > 0, 'a lock of the new master');
holds($set->waitForFailOver($old) !== $old, 'another one is the master');
$old->kill();
echo "done\n";
?>
--EXPECT--
done
