--TEST--
RedLock has the calls of the published RedLock class: lock returns an array that any process can unlock
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.restart_guard=0
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';

/** [host, port, connect timeout] of each server, the form of that class. */
function as_lists(array $addresses, float $timeout): array
{
    return array_map(fn ($address) => [strtok($address, ':'), (int) strtok(':'), $timeout], $addresses);
}

/** @return list<string|null> the lock's value on each server */
function values(array $addresses, string $resource): array
{
    return array_map(fn ($address) => (new RedisRaw($address))->cmd('GET', $resource), $addresses);
}

$addresses = array_slice(redis_addresses(), 0, 3);
$servers = as_lists($addresses, 1.0);
$resource = unique('test');
$redLock = new RedLock($servers);

echo "-- lock\n";
$lock = $redLock->lock($resource, 10000);
foreach (['validity', 'resource', 'token'] as $name) {
    echo "$name: ", get_debug_type($lock[$name]), "\n";
}
var_dump($lock['resource'] === $resource, strlen($lock['token']) >= 16);
var_dump($lock['validity'] > 0 && $lock['validity'] < 10000 - 100); // less at least 1 % for drift
// Two servers of three are enough for lock() to return; the client has asked the third as well.
wait_for(fn () => values($addresses, $resource) === array_fill(0, 3, $lock['token']), 60, 'the key on all servers');

echo "-- contention\n";
var_dump((new RedLock($servers, 20, 3))->lock($resource, 1000));
var_dump((new RedLock($servers, 20, 1))->lock($resource, 1000));
var_dump($redLock->unlock(['resource' => $resource, 'token' => strrev($lock['token'])] + $lock));
var_dump(values($addresses, $resource) === array_fill(0, 3, $lock['token']));

echo "-- unlock in another process\n";
$other = php_child('
    [$servers, $lock] = json_decode($argv[1], true);
    var_dump((new RedLock($servers))->unlock($lock));
', [json_encode([$servers, $lock])]);
echo $other->readAll();
wait_for(fn () => values($addresses, $resource) === [null, null, null], 60, 'the key to be gone on all servers');
$again = $redLock->lock($resource, 10000);
var_dump($again['token'] !== $lock['token']);
var_dump($redLock->unlock($again));

echo "-- a connect timeout of 10 ms, as in that class's README\n";
$quick = new RedLock(as_lists($addresses, 0.01), 20, 100);
var_dump($quick->unlock($quick->lock($resource)));

echo "-- one dead server of three, then two\n";
$own = [redis_private(), redis_private(), redis_private()];
$redLock = new RedLock(as_lists(array_map(fn ($server) => $server->address(), $own), 1.0), 20, 3);
var_dump($redLock->unlock($redLock->lock($resource)));
$own[1]->kill();
var_dump(is_array($lock = $redLock->lock($resource)));
var_dump((new RedLock(as_lists(array_map(fn ($server) => $server->address(), $own), 1.0), 20, 2))->lock($resource));
var_dump($redLock->unlock($lock));
$own[2]->kill();
var_dump($redLock->lock($resource));
// A failed attempt leaves nothing behind.
wait_for(fn () => $own[0]->raw()->cmd('EXISTS', $resource) === 0, 60, 'the vote to be given back');
echo "done\n";
?>
--EXPECT--
-- lock
validity: float
resource: string
token: string
bool(true)
bool(true)
bool(true)
-- contention
bool(false)
bool(false)
bool(false)
bool(true)
-- unlock in another process
bool(true)
bool(true)
bool(true)
-- a connect timeout of 10 ms, as in that class's README
bool(true)
-- one dead server of three, then two
bool(true)
bool(true)
bool(false)
bool(true)
bool(false)
done
