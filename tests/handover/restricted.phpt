--TEST--
If TIME, PUBLISH in scripts, channels or INFO are refused, locks still work: waiters look at intervals, and tokens rise
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';

preg_match('/^ACL SETUSER locks on >s3cret resetkeys resetchannels (.*)$/m', file_get_contents(__DIR__ . '/../../docs/operations.md'), $listed)
    || exit("docs/operations.md has no list\n");
define('RULES', explode(' ', $listed[1]));
const PROCESSES = 3, ROUNDS = 15;

$kinds = ['DistributedLock' => private_locks('DistributedLock'), 'RedLock' => private_locks('RedLock', 3)];
$restrictions = ['time' => ['+time'], 'publish' => ['+publish'], 'channels' => ['&dlock:inbox:*'], 'subscribe' => ['+subscribe'], 'info' => ['+info'],
    'all' => ['+time', '+publish', '+subscribe', '&dlock:inbox:*', '+info']];
if (!$kinds['DistributedLock']->raw()[0]->cmd('COMMAND', 'INFO', 'pexpiretime')[0]) { // Redis 6
    $restrictions = ['publish' => ['+publish'], 'channels' => ['&dlock:inbox:*'], 'subscribe' => ['+subscribe'], 'info' => ['+info']];
    $clock = [];
} else {
    $clock = ['+pexpiretime'];
}
$as = function (string $user, string $kind) use ($kinds) {
    $dsns = array_map(fn (string $address) => "redis://$user:secret@$address", $kinds[$kind]->addresses);
    return $kind === 'DistributedLock' ? new DistributedLock($dsns[0]) : new RedLock($dsns, prefix: 'Lock:');
};
$rejected = fn (RedisRaw $redis, string $command) => preg_match("/^cmdstat_$command:.*rejected_calls=(\d+)/m", $redis->cmd('INFO', 'commandstats'), $found)
    ? (int) $found[1] : 0;

/* Processes acquire the lock in turn: never two at a time, and with rising tokens. @return string what went wrong */
$contend = function (string $user, string $kind) use ($as): string {
    $resource = unique("contended-$user-$kind");
    $gate = gate();
    $tokens = temporary_directory() . "/tokens-$user-$kind";
    $processes = [];
    for ($i = 0; $i < PROCESSES; $i++) {
        $processes[] = $process = fork_child(function () use ($as, $user, $kind, $resource, $gate, $tokens) {
            $locks = $as($user, $kind);
            for ($round = 0; $round < ROUNDS; $round++) {
                $lease = $locks->acquire($resource, 60, 30);
                enter($gate);
                file_put_contents($tokens, "$lease->fencingToken\n", FILE_APPEND);
                pause(0.002);
                leave($gate);
                $lease->release() || throw new RuntimeException('lost');
            }
        });
        at_end($process->kill(...));
    }
    foreach ($processes as $process) {
        $process->result(90);
    }
    $given = array_map(intval(...), file($tokens, FILE_IGNORE_NEW_LINES));
    $sorted = array_unique($given);
    sort($sorted);
    return count($given) === PROCESSES * ROUNDS && $given === $sorted ? '' : 'tokens: ' . implode(' ', $given);
};

foreach ($restrictions as $user => $without) {
    foreach ($kinds as $kind => $locks) {
        $what = "$kind without " . implode(' ', $without);
        $silent = !in_array($user, ['time', 'info']);
        foreach ($locks->raw() as $redis) {
            $redis->cmd('ACL', 'SETUSER', $user, 'reset', 'resetchannels', 'on', '>secret', ...array_diff([...RULES, '+info'], $without), ...$clock);
            $redis->cmd('CONFIG', 'RESETSTAT');
            $redis->cmd('SCRIPT', 'FLUSH');
        }
        $manager = $as($user, $kind);
        $resource = unique("$user-$kind");
        if ($kind === 'RedLock' && in_array('+info', $without)) { // RedLock reports that it has no restart guard
            fails(Dlock\QuorumException::class, '*does not say how long it has been up (NOPERM *',
                fn () => $manager->acquire($resource, 0), $what);
            ini_set('dlock.restart_guard', '0');
            $manager = $as($user, $kind);
        }
        $lease = $manager->acquire($resource, 0, 30);
        $last = $lease->fencingToken;
        $lease->refresh(30);
        same(true, $manager->isLocked($resource), "$what: isLocked()");
        same(null, $manager->tryAcquire($resource, 0.3), "$what: a wait that ends");
        $lease = $manager->attach($lease->detach());
        holds($kind === 'RedLock' ? $lease->fencingToken >= $last : $lease->fencingToken > $last, "$what: the token by attach()", $lease->fencingToken, $last);
        $last = $lease->fencingToken;

        // A release lets a waiter acquire soon, by a message or by a look.
        for ($round = 0; $round < 3; $round++) {
            $waiter = fork_child(function (callable $say) use ($as, $user, $kind, $resource) {
                $locks = $as($user, $kind);
                $locks->tryAcquire($resource, 0.2); // finds out what is refused
                $say('waits');
                $lease = $locks->acquire($resource, 60, 30);
                return [now(), $lease->fencingToken, $lease->release()];
            });
            at_end($waiter->kill(...));
            $waiter->hear();
            pause(0.3);
            $released = now();
            same(true, $lease->release(), "$what: release()");
            [$at, $token, $had] = $waiter->result(90);
            same(true, $had, "$what: the waiter's release()");
            within(0, $at - $released, SOON, "$what: when the waiter had it");
            holds($token > $last, "$what: the waiter's token", $token, $last);
            foreach ($locks->raw() as $redis) {
                $redis->cmd('DEL', 'dlock:fence'); // the token is lost: the server's clock keeps tokens rising
            }
            $lease = $manager->acquire($resource, 60, 30);
            holds($lease->fencingToken > $token, "$what: the token after the fence was lost", $lease->fencingToken, $token);
            $last = $lease->fencingToken;
        }
        $lease->release();

        // The parent finds out once, and its children inherit it.
        foreach ($locks->raw() as $redis) {
            same($silent && $user !== 'publish' ? 1 : 0, $rejected($redis, 'subscribe'), "$what: refused SUBSCRIBE");
        }
        same('', $contend($user, $kind), "$what: contended");
        $locks->waitUntilQueuesGone($resource);
        ini_restore('dlock.restart_guard');
    }
}

// Without either clock it fails at once, with a clear message. An expired key of older code is acquired by the other
// clock, too.
if ($clock) {
    $redis = $kinds['DistributedLock']->raw()[0];
    $redis->cmd('ACL', 'SETUSER', 'none', 'reset', 'resetchannels', 'on', '>secret', ...array_diff(RULES, ['+time']));
    fails(Dlock\ConnectionException::class, 'Redis at *: ERR time is refused, and pexpiretime, which would do instead, too, or unknown*docs/operations.md lists', fn () => $as('none', 'DistributedLock')->acquire('none', 0), 'no clock');
    same(0, $redis->cmd('EXISTS', 'Lock:none'), 'no clock: the lock');
    $redis->cmd('SET', 'Lock:old', '1000000000');
    $older = new DistributedLock('redis://time:secret@' . $kinds['DistributedLock']->addresses[0], legacy: true);
    same(true, $older->acquire('old', 0, 30)->release(), 'a timestamp that has ended');
    $redis->cmd('SET', 'Lock:old', (string) (time() + 100));
    same(null, $older->tryAcquire('old', 0.1), 'one that has not');
    same(-1, $redis->cmd('PTTL', 'Lock:old'), 'one that has not: its end');
}
echo "done\n";
?>
--EXPECT--
done
