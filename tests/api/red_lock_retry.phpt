--TEST--
RedLock: lock() makes retryCount attempts, with pauses of at most retryDelay milliseconds between them
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private();
$redis = $server->raw();
$redis->cmd('SET', 'taken', 'theirs');
(new RedLock([$server->dsn()]))->tryAcquire('warm')->release(); // connects, and the server learns the scripts

foreach ([1, 2, 3, 10] as $count) {
    $red = new RedLock([$server->dsn()], 1, $count);
    same($count, sent_commands($redis, fn () => same(false, $red->lock('taken'), 'lock()'))['evalsha'] ?? 0, "retryCount $count");
}
same(3, sent_commands($redis, fn () => (new RedLock([$server->dsn()], 1))->lock('taken'))['evalsha'] ?? 0, 'retryCount by default');

// The pause is bounded, so 10 attempts end long before an unbounded pause would.
within(0, seconds(fn () => (new RedLock([$server->dsn()], 1, 10))->lock('taken')), SOON, '9 pauses of at most 1 ms');
// There is no pause after the last attempt.
within(0, seconds(fn () => (new RedLock([$server->dsn()], 60_000, 1))->lock('taken')), 30, 'no pause after the last');

// An attempt in time acquires the lock.
$redis->cmd('PEXPIRE', 'taken', 200);
$red = new RedLock([$server->dsn()], 20, 100_000);
same('taken', $red->lock('taken')['resource'] ?? null, 'lock() of what becomes free');

// Attempts without a quorum count.
$port = closed_port();
$red = new RedLock([$server->dsn(), "redis://127.0.0.1:$port"], 1, 4);
$counts = sent_commands($redis, fn () => same(false, $red->lock('free'), 'lock() without a quorum'));
same(4, $counts['evalsha'] ?? 0, 'four attempts');
// An attempt ends when the other server refuses the connection, perhaps before this server has answered. The client has
// not heard whether it was queued, so it also leaves the queue.
within(4, $counts['eval'] ?? 0, 8, 'four votes given back');
same(0, $redis->cmd('EXISTS', 'free'), 'the vote');
echo "done\n";
?>
--EXPECT--
done
