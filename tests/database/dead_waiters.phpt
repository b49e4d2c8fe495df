--TEST--
Databases: a waiter whose session has ended gets no lock, so killed waiters do not delay the next one
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

foreach (private_databases() as $kind => $server) {
    $locks = new DistributedLock($server->dsn('create=1&guard=300&connect_timeout=60&read_timeout=60'), ttl: 100);
    $queue = fn () => count($server->waiters('Lock:r'));
    $lease = $locks->acquire('r', 0);
    $own = $server->sessions();
    $dead = [];
    foreach ([1, 2, 3] as $i) {
        $dead[] = $child = fork_child(fn () => (new DistributedLock($server->dsn('guard=300&connect_timeout=60&read_timeout=60'), ttl: 10))->tryAcquire('r', 300), [], 'kill');
        at_end($child->kill(...));
        wait_for(fn () => $queue() === $i, 60, "$kind: waiter $i");
    }
    $waiter = database_holder($server->dsn('guard=300&connect_timeout=60&read_timeout=60'), 'r', 100, 300);
    wait_for(fn () => $queue() === 4, 60, "$kind: the one that lives");
    $first = $server->waiters('Lock:r')[3]['token'];
    $sessions = fn () => array_diff($server->sessions(), $own);
    // Each waiter has at most two sessions. The waiter that lives opened its own last.
    $ends = array_slice(array_values($sessions()), 0, $kind === 'pgsql' ? 3 : 6);
    array_map(fn ($child) => $child->kill(), $dead);
    array_map($server->endSession(...), $ends);
    wait_for(fn () => array_intersect($ends, $server->sessions()) === [], 60, "$kind: their end");
    same(4, $queue(), "$kind: their entries are there");
    $server->vouch('Lock:r', $first);
    same(true, $lease->release(), "$kind: handed over");
    same([$waiter->hear(), $first, 0], [$server->grant('Lock:r')['fence'], $server->token('Lock:r'), $queue()], "$kind: to the one that lives");
    $waiter->say(null);
    same(true, $waiter->result(), "$kind: release()");

    // A killed waiter is first in the queue, and another client does not wait.
    $lease = $locks->acquire('r', 0);
    $known = $server->sessions();
    $child = fork_child(fn () => (new DistributedLock($server->dsn('guard=300&connect_timeout=60&read_timeout=60'), ttl: 10))->tryAcquire('r', 300), [], 'kill');
    wait_for(fn () => $queue() === 1, 60, "$kind: one more");
    $ends = array_diff($server->sessions(), $known);
    $child->kill();
    array_map($server->endSession(...), $ends);
    wait_for(fn () => array_intersect($ends, $server->sessions()) === [], 60, "$kind: its end");
    same([true, true], [$lease->release(), $locks->lock('r', 0)], "$kind: free at once");
    same(true, $locks->release('r'), "$kind: the last release()");
}

// In MySQL a killed waiter's session may notice its end only when it is woken. The lock that was handed to it then goes
// to the next client.
if ($kind === 'mysql') {
    $hand = fn (int $session) => $server->query('UPDATE dlock_locks SET token = ?, expires = UNIX_TIMESTAMP(SYSDATE(6)) * 1000000 + 200000000, bell = ? WHERE name = ?', [str_repeat('a', 44), $session, 'Lock:r']);
    $hand(0);
    same(null, $locks->tryAcquire('r'), 'taken up');
    $session = $server->pdo();
    $id = (int) $session->query('SELECT CONNECTION_ID()')->fetchColumn();
    $session->query("SELECT GET_LOCK('dlock:$id', 0)")->fetchAll();
    $hand($id);
    same(null, $locks->tryAcquire('r'), 'not taken up yet');
    $server->endSession($id);
    wait_for(fn () => $server->query("SELECT IS_FREE_LOCK('dlock:$id') AS free")[0]['free'], 60, 'the end of the session');
    same(true, $locks->tryAcquire('r')?->release(), 'not to be taken up any more');
}
echo "done\n";
?>
--EXPECT--
done
