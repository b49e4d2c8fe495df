--TEST--
Databases: a release in the background that was refused is repeated until it is answered, and then no more
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
--INI--
dlock.shutdown_timeout=300
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/database.inc';

/** A process that drops its lease while a transaction has the row of the lock. It ends once its release is done. */
$drop = fn (string $dsn) => fork_child(function (callable $say, callable $hear) use ($dsn) {
    ini_set('dlock.shutdown_timeout', '60');
    $lock = new DistributedLock($dsn, ttl: 200, renew: false);
    $lease = $lock->acquire('r', 0);
    $say('has it');
    $hear();
    unset($lease);
    wait_for(fn () => thrown_by(fn () => $lock->isLocked('asked')) === null, 60, 'an answer behind that to the release');
    $say('was refused');
    $hear();
});

foreach (private_databases() as $kind => $server) {
    $relay = relay($server->address());
    (new DistributedLock($server->dsn('create=1&guard=300')))->isLocked('r');
    $dsn = str_replace($server->address(), $relay->address(), $server->dsn('guard=300&connect_timeout=60&read_timeout=4'));
    foreach ([false, true] as $breaks) {
        $child = $drop($dsn);
        at_end($child->kill(...));
        $child->hear();
        $row = $server->pdo();
        $row->beginTransaction();
        $row->query('SELECT * FROM ' . ($kind === 'pgsql' ? 'dlock.locks' : 'dlock_locks') . " WHERE name = 'Lock:r' FOR UPDATE")->fetchAll();
        $child->say(null);
        $child->hear();
        if ($breaks) { // the answer to the second release is lost, with the session
            $sessions = $server->sessions();
            $relay->order(0, ['swallow' => 1]);
        }
        $child->say(null);
        $breaks && wait_for(fn () => array_diff($server->sessions(), $sessions) !== [], 60, "$kind: another session, for the third release");
        $row->rollBack();
        $child->result();
        same(null, $server->token('Lock:r'), "$kind: the lock, once its process has ended");
    }
}
echo "done\n";
?>
--EXPECT--
done
