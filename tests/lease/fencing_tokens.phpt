--TEST--
Fencing tokens of six processes rise strictly in the order of holding, for each class, with renewed leases
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/zk.inc';
require __DIR__ . '/../inc/lease.inc';

$sections = (int) amount('DLOCK_TEST_ACQUISITIONS', 50); // of each process
$kinds = [];
foreach ([...shared_locks(), ...shared_pools()] as $locks) {
    $kinds[$locks->name] = fn () => $locks->manager();
}
if (class_exists('ZkLock', false)) {
    $kinds['ZkLock'] = fn () => new ZkLock(zk_hosts());
}
foreach ($kinds as $name => $make) {
    $resource = unique($name);
    $gate = gate();
    file_put_contents("$gate.last", '0 0');
    $results = fork_run(6, function (int $i) use ($make, $resource, $gate, $sections) {
        $manager = $make();
        for ($n = 0; $n < $sections; $n++) {
            $manager->synchronized($resource, function (Dlock\Lease $lease) use ($gate) {
                enter($gate);
                [$last, $count] = explode(' ', file_get_contents("$gate.last"));
                $lease->fencingToken > (int) $last || throw new RuntimeException("$lease->fencingToken after $last");
                file_put_contents("$gate.last", "$lease->fencingToken " . $count + 1);
                leave($gate);
            }, 120);
        }
        return Dlock\stats()['waits'];
    }, 'exit', 60 + $sections);
    same((string) (6 * $sections), explode(' ', file_get_contents("$gate.last"))[1], "$name: sections");
    holds(array_sum($results) > $sections, "$name: there was contention", $results);
    echo "$name\n";
}
?>
--EXPECT--
DistributedLock
RedLock
Semaphore
ReadWriteLock
ZkLock
