--TEST--
databases: a resolver that hangs keeps no session from addresses that are known, nor from the next host; new addresses of a name are tried
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
skip_unless_preloading();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';
require __DIR__ . '/../inc/names.inc';

$server = new PrivatePostgres();
(new Names())->run('$dsn = ' . var_export($server->dsn(), true) . '; $port = ' . $server->port . ';' . <<<'CODE'
    const HANGS = 600.0;
    // The options differ in what gives each object a session of its own: these are opened anew.
    $lock = fn (string $hosts, float $timeout) => new DistributedLock(str_replace("127.0.0.1:$port", $hosts, $dsn) . "&connect_timeout=$timeout");
    $names = ['known.test' => [0, '127.0.0.1'], 'next.test' => [0, '127.0.0.1'], 'moved.test' => [0, '127.0.0.9'], 'hangs.test' => [HANGS, '127.0.0.1']];
    set_names($names);
    same(true, $lock("known.test:$port", 20)->lock('r1', 0), 'a name');
    fails(Dlock\ConnectionException::class, "PostgreSQL at moved.test:$port: *refused*", fn () => $lock("moved.test:$port", 20)->lock('r2', 0));

    // A name that does not work is looked up again by the next attempt, one that works after 5 s.
    $late = $lock("late.test:$port", 22);
    for ($i = 0; $i < 2; $i++) {
        set_names(['late.test' => [0, '-']] + $names);
        fails(Dlock\ConnectionException::class, "PostgreSQL at late.test:$port: the name was not resolved: *", fn () => $late->lock('r6', 0), "no address, $i");
    }
    set_names(['late.test' => [0, '127.0.0.1'], 'soon.test' => [0, '127.0.0.9']] + $names);
    same(null, thrown_by(fn () => $late->lock('r6', 0))?->getMessage(), 'a name that had no address before');
    $soon = $lock("soon.test:$port", 23);
    fails(Dlock\ConnectionException::class, "PostgreSQL at soon.test:$port: *refused*", fn () => $soon->lock('r7', 0));
    set_names(['soon.test' => [0, '127.0.0.1']] + $names);
    pause(1.1); // an address that does not work is looked up once in a second
    same(null, thrown_by(fn () => $soon->lock('r7', 0))?->getMessage(), 'another address a second later');
    set_names($names);

    // Half of the time is for the first host. After that, what is known of the other names is old.
    same(null, thrown_by(fn () => $lock("hangs.test,next.test:$port", 14)->lock('r3', 0))?->getMessage(), 'the look-up of the first host hangs');
    set_names(['known.test' => [HANGS, '127.0.0.1'], 'moved.test' => [0, '127.0.0.1']] + $names);
    same(null, thrown_by(fn () => $lock("known.test:$port", 15)->lock('r4', 0))?->getMessage(), 'a known name, whose new look-up hangs');
    same(null, thrown_by(fn () => $lock("moved.test:$port", 21)->lock('r5', 0))?->getMessage(), 'another address since then');
    echo "done\n";
    CODE);
?>
--EXPECT--
done
