--TEST--
MariaDB: a waiter whose session breaks does not repeat its request with the same duration, which could end long after the waiter's timeout
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

$server = new PrivateMariaDb();
$dsn = $server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60');
$holder = (new DistributedLock($dsn, ttl: 100))->acquire('r', 0);
$server->query("SET GLOBAL log_output = 'TABLE'");
$server->query('SET GLOBAL general_log = 1');
$waiter = fork_child(fn () => (new DistributedLock($dsn, ttl: 100))->tryAcquire('r', 300)?->release());
at_end($waiter->kill(...));
/** The requests from within the queue: for each session, how many ms the server was to wait before its answer. */
$durations = function () use ($server): array {
    $all = [];
    foreach ($server->query("SELECT thread_id, argument FROM mysql.general_log WHERE argument LIKE 'CALL dlock_acquire_1(%' ORDER BY event_time") as $row) {
        preg_match("/^CALL dlock_acquire_1\(x'\w*',x'\w*',x'\w+', \d+, \d+, \d+, (\d+),/", $row['argument'], $found) && $all[$row['thread_id']][] = (int) $found[1];
    }
    return $all;
};
wait_for(fn () => count(current($durations()) ?: []) >= 2, 60, 'the second request in the session of the waiter');
$server->endSession(array_key_first($durations()));
wait_for(fn () => count($durations()) === 2 && count(array_values($durations())[1]) >= 2, 60, 'two requests in its next session');
[$before, $after] = array_values($durations());
same([0, true], [$after[0], $before[0] > 0 && $after[1] > 0], 'the repeated request is answered at once, the others later');
same([true, true], [$holder->release(), $waiter->result()], 'the waiter has its turn');
echo "done\n";
?>
--EXPECT--
done
