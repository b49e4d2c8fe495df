--TEST--
databases: a host that becomes read-only and keeps its connections is left for the next one, by those who ask and by those who wait
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

foreach (private_databases() as $kind => $one) {
    $two = new $one();
    $login = 'owner:secret';
    foreach ([$one, $two] as $server) { // MariaDB's administrator may write all the same, and so may procedures that the administrator owns
        $kind === 'mysql' ? $server->query("GRANT ALL ON shop.* TO owner@'%' IDENTIFIED BY 'secret'") : $login = '';
        same([true], fork_run(1, fn () => (new DistributedLock($server->dsn(login: $login)))->lock('made', 0)), "$kind: tables");
        wait_for(fn () => $server->sessions() === [], 60, 'the end of that session');
    }
    $options = 'guard=300&connect_timeout=60&read_timeout=60';
    $alone = new DistributedLock($one->dsn($options, $login));
    $dsn = str_replace($one->address(), "{$one->address()},{$two->address()}", $one->dsn($options, $login));
    $lock = new DistributedLock($dsn, ttl: 100);
    $held = $lock->acquire('held', 0);
    same(true, $alone->lock('alone', 0), "$kind: the first host");
    $waiter = database_holder($dsn, 'held', 100, 120);
    wait_for(fn () => $one->waiters('Lock:held') !== [], 60, 'the waiter to be in the queue');
    same([], $two->sessions(), "$kind: sessions with the second host");

    $kind === 'pgsql' ? $one->set('default_transaction_read_only', 'on') : $one->query('SET GLOBAL read_only = 1');
    wait_for(function () use ($lock, $two, $kind) { // the sessions of PostgreSQL notice it one by one
        same(true, $lock->acquire('next', 0)->release(), "$kind: meanwhile");
        return $two->sessions() !== [];
    }, 60, 'the second host');
    holds($waiter->hear() > 0, "$kind: the waiter has the lock on the second host");
    $waiter->say(null);
    same(true, $waiter->result(), "$kind: its release()");
    wait_for(fn () => thrown_by(fn () => $alone->acquire('alone-2', 0)->release()), 60, 'an object that names only the first host');
    fails(Dlock\ConnectionException::class, "*{$one->address()}: *read-only*", fn () => $alone->acquire('alone-3', 0), "$kind: the first host alone");
}
echo "done\n";
?>
--EXPECT--
done
