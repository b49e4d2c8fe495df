--TEST--
inspectAll(), "dlock ls" and "dlock ls --all" of a cluster show the locks of all its masters
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/seen.inc';
require __DIR__ . '/../inc/replicated.inc';

$set = new ClusterSet(3, 0, timeout: 60_000);
$dsn = $set->dsn(['replicas' => 0]);
$make = fn () => new DistributedLock($dsn);
$locks = $make();
$names = array_map(fn (int $i) => "lock-$i", range(10, 29));
$masters = array_unique(array_map(fn (string $name) => $set->masterOf(key_slot("Lock:$name"))->port, $names));
same(3, count($masters), 'the locks are on all masters');
$leases = array_map(fn (string $name) => $locks->acquire($name, timeout: 60, ttl: 600), $names);
same([], $locks->inspectAll(), 'a lease that has just begun, and is not renewed, is not in the index');
$listed = function (string ...$more) use ($dsn): array {
    $run = dlock(["--server=$dsn", 'ls', '--json', ...$more]);
    same([0, ''], [$run->status, $run->errors], 'dlock ls');
    $names = array_column(json_decode($run->output, true), 'resource');
    sort($names);
    return $names;
};
same($names, $listed('--all'), 'dlock ls --all');

// With a waiter each, on all masters.
$waiters = array_map(fn (string $name) => claimant($make, $name, 'x'), array_slice($names, 0, 6));
foreach (array_slice($names, 0, 6) as $name) {
    wait_for_parties($locks, $name, 1, 1);
}
same(array_slice($names, 0, 6), $listed(), 'dlock ls');
foreach ($leases as $lease) {
    same(true, $lease->release(), 'released');
}
foreach ($waiters as $waiter) {
    $waiter->say('go');
    same(true, $waiter->result(), 'and the next ones');
}
?>
Done.
--EXPECT--
Done.
