--TEST--
Processes with an old class (SETNX and EXPIRE) and processes with legacy: true never hold one lock together, even if processes are killed
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/legacy.inc';

$resources = array_map(unique(...), ['a', 'b', 'c']);
$result = fleet_run(new Fleet('expire', redis_addresses()[0], $resources, OLD_EXPIRE - 2), 'expire');
same([], $result['overlaps'], 'overlaps');
foreach (['new', 'expire'] as $kind) {
    holds($result['sections'][$kind] > 20, "$kind: had sections", $result);
    holds($result['killed in a section'][$kind] > 0, "$kind: holders were killed", $result);
}

// DistributedLock acquires every lock that killed processes left.
$locks = new DistributedLock(redis_server(), legacy: true);
foreach ($resources as $resource) {
    same(true, $locks->lock($resource, 30) && $locks->release($resource), "$resource afterwards");
}
echo "done\n";
?>
--EXPECT--
done
