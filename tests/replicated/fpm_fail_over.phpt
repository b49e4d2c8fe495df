--TEST--
php-fpm: the first request after a failover finds the new master, and later ones open no connection
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_fpm();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/replicated.inc';

$set = new SentinelSet(downAfter: 60_000);
$fpm = fpm_start(['dlock.server' => '"' . $set->dsn(['guard' => 1, 'connect_timeout' => 20, 'read_timeout' => 20]) . '"', 'dlock.ttl' => '1', 'dlock.restart_guard' => '1'], 1);
$look = $fpm->script('look', '
    $begin = now();
    $lock = new DistributedLock();
    $locked = $lock->isLocked("sale");
    echo json_encode([(now() - $begin) * 1000, $locked, Dlock\stats()["connections"]]);
');
$sell = $fpm->script('sell', '
    $lock = new DistributedLock();
    $lease = $lock->acquire("sale", timeout: 20.0);
    $token = $lease->fencingToken;
    $lease->release();
    echo json_encode([$token, Dlock\stats()["connections"]]);
');

[$first] = $fpm->json($sell);
$set->master()->kill();
$set->failOver();
[$ms, $locked, $connections] = $fpm->json($look);
holds(!$locked, 'the first request', [$ms, $locked]);
[$token] = $fpm->json($sell);
holds($token > $first, 'the fencing token', [$first, $token]);
[, $waited] = $fpm->json($sell);
holds($waited - $connections <= 10, 'connections until it has waited once: an inbox, and few more', [$connections, $waited]);
$after = $waited;
$tries = 0;
do { // again if the machine stands still, a lease is renewed, or a Sentinel is asked again
    $before = $after;
    for ($i = 0; $i < 20; $i++) {
        [, $after] = $fpm->json($sell);
    }
} while ($after !== $before && ++$tries < 10);
same($before, $after, 'connections of twenty requests after it');
echo "done\n";
?>
--EXPECT--
done
