--TEST--
Fencing tokens rise from each holder to the next, for all resources of a server, also when it has forgotten everything
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

$server = redis_private();
$redis = $server->raw();
$lock = new DistributedLock($server->dsn());
$last = 0;
$next = function (string $when, ?DistributedLock $by = null) use ($lock, &$last) {
    $lease = ($by ?? $lock)->acquire('resource');
    holds($lease->fencingToken > $last, "$when: the token rises", $last, $lease->fencingToken);
    holds($lease->fencingToken < 2 ** 53, "$when: every language can hold it as a number", $lease->fencingToken);
    $last = $lease->fencingToken;
    $lease->release();
};

for ($i = 0; $i < 200; $i++) {
    $next("number $i");
}
$next('another object', new DistributedLock($server->dsn()));
$next('another prefix', new DistributedLock($server->dsn(), 'other:'));
$redis->cmd('FLUSHALL');
$next('after FLUSHALL');
$redis->cmd('SCRIPT', 'FLUSH');
$next('after SCRIPT FLUSH');
$server->restart();
$next('after a restart without data');

// The server's clock is behind the tokens that it has given out, as after the clock was set back.
$redis = $server->raw();
$fence = array_values(array_diff($redis->cmd('KEYS', '*'), ['Lock:resource']));
same(1, count($fence), 'keys left on the server, however many resources were locked');
$ahead = $last + 3_600_000_000;
$redis->cmd('SET', $fence[0], (string) $ahead);
$last = $ahead;
for ($i = 0; $i < 20; $i++) {
    $next("with the clock behind, $i");
}
within($ahead + 1, $last, $ahead + 20, 'the token, counted on');

// The server has returned with an old backup.
$redis->cmd('SET', $fence[0], '5');
$last = 5;
$next('after an old backup');
within(time() * 1_000_000 - 60_000_000, $last, time() * 1_000_000 + 60_000_000, 'the token, by the clock');

// A failed attempt uses up no token, and lock() counts as acquire() does.
$lease = $lock->acquire('resource');
$value = $redis->cmd('GET', $fence[0]);
same((string) $lease->fencingToken, $value, 'the counter');
$lock->tryAcquire('resource');
same($value, $redis->cmd('GET', $fence[0]), 'the counter after an attempt');
$lease->release();
$last = $lease->fencingToken;
$lock->lock('resource');
$lock->release('resource');
$next('after lock()');

// Many processes at once: all tokens differ, and rise in order of acquisition.
$log = temporary_directory() . '/log';
fork_run(4, function () use ($server, $log) {
    $lock = new DistributedLock($server->dsn());
    for ($i = 0; $i < 25; $i++) {
        $lock->synchronized('resource', fn ($lease) => file_put_contents($log, "$lease->fencingToken\n", FILE_APPEND), 60);
    }
});
$tokens = array_map('intval', file($log));
same(100, count($tokens), 'tokens of four processes');
for ($i = 1; $i < 100; $i++) {
    holds($tokens[$i - 1] < $tokens[$i], 'tokens of four processes rise', $tokens[$i - 1], $tokens[$i]);
}
echo "done\n";
?>
--EXPECT--
done
