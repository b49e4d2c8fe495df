--TEST--
PostgreSQL: a request that is executed long after its caller has released or dropped the lock, or has given up, does not hold the lock; the end of a process does not wait for it
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

$server = new PrivatePostgres();
$other = new DistributedLock($server->dsn('create=1&guard=300'), ttl: 280, renew: false);
$other->isLocked('made');

/** A lock, and the process of the server that has its next request and is stopped. Its second one goes elsewhere. */
$hang = function (Relays $relay) use ($server): array {
    $before = $server->sessions();
    $dsn = str_replace($server->address(), $relay->address(), $server->dsn('guard=300&connect_timeout=60&read_timeout=60'));
    $lock = new DistributedLock($dsn, ttl: 280, renew: false);
    wait_for(fn () => thrown_by(fn () => $lock->isLocked('asked')) === null, 60, 'a session');
    [$backend] = array_values(array_diff($server->sessions(), $before));
    posix_kill($backend, SIGSTOP);
    wait_until_stopped($backend);
    $relay->order(0, ['forsake' => 1]);
    return [$lock, $backend];
};
$test = function (callable $do) use ($server, $hang): void {
    [$lock, $backend] = $hang($relay = relay($server->address()));
    $do($lock);
    for ($until = now() + 0.5; now() < $until;) { // more releases in the background have their answers by then
        thrown_by(fn () => $lock->isLocked('asked'));
    }
    same(null, $server->token('Lock:r'), 'before that process goes on');
    posix_kill($backend, SIGCONT);
    wait_for(fn () => $server->token('Lock:r') !== null, 60, 'the late request to be executed');
    wait_for(fn () => thrown_by(fn () => $lock->isLocked('asked')) === null && $server->token('Lock:r') === null, 60, 'it to be given back');
};

$test(function (DistributedLock $lock) {
    same(true, $lock->acquire('r', 0)->release(), 'acquired by the second request');
});
$test(function (DistributedLock $lock) {
    $lease = $lock->acquire('r', 0);
    unset($lease);
});
$lease = $other->acquire('r', 0);
$test(function (DistributedLock $lock) use ($server) {
    same(null, $lock->tryAcquire('r', 1), 'the answer to the second request is no');
    $server->query('UPDATE dlock.locks SET expires = clock_timestamp()'); // no other lock of this process asks meanwhile
});

$relay = relay($server->address());
$child = fork_child(function () use ($hang, $relay) {
    ini_set('dlock.shutdown_timeout', '300');
    [$lock, $backend] = $hang($relay);
    $lock->lock('left', 0); // its end releases it
    return $backend;
});
posix_kill($child->result(), SIGCONT); // after the end of the process
echo "done\n";
?>
--EXPECT--
done
