--TEST--
dlock-doctor compares the clocks of a master and of replicas that only the master names, and reports sales that a failover may have lost
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/doctor.inc';
require __DIR__ . '/../inc/replicated.inc';
require __DIR__ . '/../inc/clocks.inc';

[$old, $with, $new] = $servers = with_own_clocks(fn () => array_map(
    fn () => new ReplicatedRedis(['save ""', 'appendonly yes', 'repl-diskless-sync-delay 0', 'min-replicas-to-write 1']), range(1, 3)));
$with->follow($old);
$new->follow($old);
$ignored = '--ignore=unsettled,few-replicas,open,keepalive';
$of = fn (ReplicatedRedis $server, string $options = 'replicas=1&guard=10') => "redis://{$server->address()}?$options";

// Clocks.
finds([], [$of($old), $ignored], 'clocks that agree');
set_clock($with, 3);
$texts = finds(['clocks' => 'warning'], [$of($old), $ignored], 'a replica that is ahead');
holds(preg_match("/^ {$with->address()} its clock is ((?:2|3)(?:\.\d+)?) s ahead of that of (\S+), give or take [\d.]+ m?s\. A new master settles at once only if/", $texts['clocks'] ?? '', $found) === 1
    && in_array($found[2] ?? '', [$old->address(), $new->address()], true), 'a replica that is ahead', $texts);
finds(['persistence' => 'note', 'replicas' => 'warning'], [$of($old, 'connect_timeout=9'), $ignored], 'whose clock matters to nobody without replicas=');
set_clock($with, 0.5);
finds([], [$of($old), $ignored], 'half a second');
foreach ($servers as $server) {
    set_clock($server, -3);
}
$texts = finds(['clocks' => 'warning'], [$of($old), $ignored], 'all are behind this host');
holds(preg_match('/^ this host its clock is (2\.9\d*|3(?:\.\d+)?) s .* A clock that is set forward/', $texts['clocks'] ?? '') === 1, 'all are behind this host', $texts);
foreach ($servers as $server) {
    set_clock($server, 0);
}

// A master and a replica confirm sales, and are then cut off.
$stock = new Dlock\Stock($of($old));
$stock->restock('shoe', 10, 'opening');
$stock->reserve('shoe', 'b1', 'o1')->confirm();
finds([], [$of($old), $ignored, '--class=Stock'], 'nothing is missing');
$new->raw()->cmd('REPLICAOF', 'NO', 'ONE');
$stock->reserve('shoe', 'b2', 'o2')->confirm();
$with->follow($new);
holds((new Dlock\Stock($of($new)))->counts('shoe')['uncertain'] !== null, 'counts()', '');
$texts = finds(['uncertain' => 'warning'], [$of($new), $ignored, '--class=Stock'], 'sales that may be missing');
holds(preg_match('/may lack sales that were confirmed before \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: a failover may have lost them\. Units that were sold may be sold again\. Compare/', $texts['uncertain'] ?? '') === 1,
    'sales that may be missing', $texts);
finds([], [$of($new), $ignored], 'locks are not concerned');
echo "done\n";
?>
--EXPECT--
done
