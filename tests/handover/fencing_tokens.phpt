--TEST--
Fencing tokens rise in the order of holding, over hand-overs
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
require __DIR__ . '/../inc/handover.inc';

foreach ([...shared_locks(), ...shared_pools()] as $locks) {
    $resource = unique($locks->name);
    $gate = gate();
    file_put_contents("$gate.last", '0 0');
    $results = fork_run(6, function () use ($locks, $resource, $gate) {
        $manager = $locks->manager();
        for ($i = 0; $i < 300; $i++) {
            $manager->synchronized($resource, function (Dlock\Lease $lease) use ($gate) {
                enter($gate);
                [$last, $count] = explode(' ', file_get_contents("$gate.last"));
                $lease->fencingToken > (int) $last || throw new RuntimeException("$lease->fencingToken after $last");
                file_put_contents("$gate.last", "$lease->fencingToken " . $count + 1);
                leave($gate);
            }, 60, 60);
        }
        return Dlock\stats()['waits'];
    }, 'exit', 110);
    same('1800', explode(' ', file_get_contents("$gate.last"))[1], "$locks->name: sections");
    holds(array_sum($results) > 600, "$locks->name: there was contention", $results);
    $locks->waitUntilQueuesGone($resource);
}
echo "done\n";
?>
--EXPECT--
done
