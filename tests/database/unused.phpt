--TEST--
databases: of the sessions that a process no longer uses, the last 128 stay open; objects of the others go on with a new one
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

foreach (['pgsql' => new PrivatePostgres(['max_connections' => '200']), 'mysql' => new PrivateMariaDb(['max_connections' => '200'])] as $kind => $server) {
    // Objects whose time limits differ have sessions of their own.
    $locks = fn (int $number) => new DistributedLock($server->dsn('create=1&guard=300&read_timeout=60&connect_timeout=' . (60 + $number)), ttl: 300, renew: false); // a renewal has a session of its own
    $first = $locks(0);
    $lease = $first->acquire('r', 0);
    $oldest = $server->sessionOf($lease);
    $made = array_map($locks, range(101, 140)); // before the others are used
    for ($number = 1; $number <= 140; $number++) {
        same(true, ($made[$number - 101] ?? $locks($number))->isLocked('r'), "$kind: session $number");
    }
    wait_for(fn () => count($server->sessions()) <= 128, 60, "$kind: the end of the sessions that were not used for longest");
    same([128, false], [count($server->sessions()), in_array($oldest, $server->sessions(), true)], "$kind: sessions that are left");
    same([true, true], [$lease->isHeld(), $lease->release()], "$kind: a lease whose session was closed");
    same(true, $first->lock('r', 0), "$kind: its object");
}
echo "done\n";
?>
--EXPECT--
done
