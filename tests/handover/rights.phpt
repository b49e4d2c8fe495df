--TEST--
If a user lacks a right, a script undoes what it has written, a release releases, and no waiter is told of a lock that it does not hold
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
// The rights to run scripts and to subscribe are not tested here.
define('NEEDED', array_values(array_diff(RULES, ['-@all', '+eval', '+evalsha', '+subscribe'])));
// Without these rights dlock still works. OTHER_CLOCK replaces +time: dlock then reads the clock in another way.
const SILENT = ['+publish', '&dlock:inbox:*'], OTHER_CLOCK = 'time, but with pexpiretime';
const TTL = 30000, TOKEN = 'the-token', OTHER = 'another-token', WAITER = 'the-waiter', AHEAD = 'the-one-ahead', INBOX = 'dlock:inbox:ahead';

$server = redis_private();
$admin = $server->raw();
$limited = $server->raw();
$inbox = $server->raw();
$inbox->cmd('SUBSCRIBE', INBOX);
$lock = 'Lock:x';
[$queue, $waiters] = [Locks::queue('x'), Locks::waiters('x')];

$allow = fn (string $without) => $admin->cmd('ACL', 'SETUSER', 'limited', 'reset', 'resetchannels', 'on', '>secret', ...array_diff(RULES, [$without]),
    ...($without === OTHER_CLOCK ? ['-time', '+pexpiretime'] : []));
/* What the inbox has received until now. @return list<string> */
$received = function () use ($admin, $inbox) {
    $admin->cmd('PUBLISH', INBOX, 'the end');
    for ($messages = []; ($message = $inbox->reply()[2]) !== 'the end'; $messages[] = $message);
    return $messages;
};
$run = fn (RedisRaw $redis, string $script, string ...$arguments) => $redis->cmd('EVAL', script($script), '4', $lock, 'dlock:fence', $queue, $waiters, ...$arguments);
$acquire = fn (RedisRaw $redis, bool $grant, bool $queues, bool $counts = false) => $run($redis, 'acquire', TOKEN, (string) TTL, $counts ? '' : ($grant ? '0' : '5000'),
    $grant ? '' : '0', $queues ? 'dlock:inbox:own' : '', $grant || !$queues ? '' : '7', '1', $grant ? '' : WAITER);
/* Builds the queue, with a waiter ahead that listens, or does not. Its sign of life stays fresh for a minute. */
$queue_up = function (bool $listens) use ($admin, $queue, $waiters) {
    [$seconds, $micros] = $admin->cmd('TIME');
    $admin->cmd('ZADD', $queue, 3, AHEAD);
    $admin->cmd('HSET', $waiters, AHEAD, sprintf('%d%06d 0 9 %s', $seconds + 60, $micros, $listens ? INBOX : 'dlock:inbox:nobody'));
};
$situations = [
    'free' => fn () => null,
    'free, somebody is first' => fn () => $queue_up(true),
    'free, the first is dead' => fn () => $queue_up(false),
    'held' => fn () => $admin->cmd('SET', $lock, OTHER, 'PX', TTL),
    'held, somebody waits' => fn () => $admin->cmd('SET', $lock, OTHER, 'PX', TTL) . $queue_up(true),
    'held for a moment, somebody waits' => fn () => $admin->cmd('SET', $lock, OTHER, 'PX', 2000) . $queue_up(true),
    'held already' => fn () => $admin->cmd('SET', $lock, TOKEN, 'PX', TTL),
];
$state = fn () => [$admin->cmd('GET', $lock), $admin->cmd('ZRANGE', $queue, 0, -1), $admin->cmd('HKEYS', $waiters), (int) $admin->cmd('GET', 'dlock:fence')];
/* A waiter that was told that it holds the lock does hold it, a waiter that was told to try may acquire it, and tokens
   have not fallen. */
$is_sound = function (string $what, bool $grant, int $fence) use ($received, $state) {
    [$holder, , , $now] = $state();
    foreach ($received() as $message) {
        $grant && same(AHEAD, $holder, "$what: whose it is, where a waiter was granted it ($message)");
    }
    holds($now >= $fence, "$what: the fence", $now, $fence);
};
/* The error's text if the script has failed, otherwise its reply. */
$try = function (callable $do): string|int|array|null {
    try {
        return $do();
    } catch (RuntimeException $e) {
        preg_match('/^Redis: ((ERR |NOPERM )?.*(can\'t|permission|ACL failure|not allowed).*)$/', $e->getMessage(), $found) || throw $e;
        return "$found[1]";
    }
};
$set_up = function (string $without, callable $situation) use ($admin, $limited, $allow) {
    $admin->cmd('FLUSHALL');
    $admin->cmd('SET', 'dlock:fence', 9000000000000000 >> 1); // above every clock's token: it counts on from here
    $situation();
    $allow($without);
    $limited->cmd('AUTH', 'limited', 'secret');
};

$failed = [];
foreach ([...NEEDED, ...($admin->cmd('COMMAND', 'INFO', 'pexpiretime')[0] ? [OTHER_CLOCK] : [])] as $right) {
    foreach ([true, false] as $grant) {
        $kind = $grant ? 'one server' : 'several';
        foreach ($situations as $name => $situation) {
            foreach ([false, true] as $queues) {
                $what = "$kind, without $right, acquire, $name" . ($queues ? ', queueing' : '');
                $set_up($right, $situation);
                [$holder, $before, , $fence] = $state();
                $reply = $try(fn () => $acquire($limited, $grant, $queues, $grant && !$queues && $name === 'free'));
                wait_for(fn () => $admin->cmd('PTTL', $lock) !== 1 && $admin->cmd('PTTL', $lock) !== 0, 60, 'a key that ends at once'); // if nothing may be deleted
                [$now, $queued, $noted] = $state();
                if (is_string($reply)) {
                    $failed[$right]['acquire'] = true;
                    // If the user cannot read the holder, the key was there before.
                    holds($now !== TOKEN || $holder === TOKEN && in_array($right, ['+exists', '+set', '+get', '~Lock:*', '~dlock:*', '+time']), "$what: taken back", $reply, $now);
                    same([], array_diff($queued, [AHEAD]), "$what: the queue");
                    same([], array_diff($noted, [AHEAD]), "$what: the waiters");
                } else {
                    same(is_int($reply), $now === TOKEN, "$what: what it replied");
                }
                $is_sound($what, $grant, $fence);
            }
        }
        foreach (['held already', 'held'] as $whose) {
            foreach ([true, false] as $listens) {
                foreach (['release', 'leave'] as $script) {
                    $what = "$kind, without $right, $script, $whose, a waiter that " . ($listens ? 'listens' : 'is gone');
                    $set_up($right, function () use ($situations, $whose, $queue_up, $listens, $script, $admin, $lock) {
                        $script === 'leave' ? $admin->cmd('DEL', $lock) : $situations[$whose]();
                        $queue_up($listens);
                    });
                    [$holder, , , $fence] = $state();
                    $reply = $try(fn () => $script === 'release' ? $run($limited, 'release', TOKEN, $grant ? '' : '0')
                        : $run($limited, 'leave', WAITER, $grant ? '' : '0'));
                    wait_for(fn () => $admin->cmd('PTTL', $lock) !== 1 && $admin->cmd('PTTL', $lock) !== 0, 60, 'a key that ends at once');
                    $now = $state()[0];
                    if (is_string($reply)) {
                        $failed[$right][$script] = true;
                        // Without these rights the script cannot know the holder, or cannot release the lock: then it
                        // has changed nothing.
                        $changed = !in_array($right, ['+get', '~Lock:*', '~dlock:*']);
                        holds($now === ($changed && $holder === TOKEN ? null : $holder) || $right === '+del' && $now === $holder, "$what: whose it is", $now);
                    } else {
                        $silent = in_array($right, SILENT);
                        same($holder === OTHER ? OTHER : ($grant && $listens && !$silent ? AHEAD : null), $now, "$what: whose it is");
                        if ($silent) { // the waiter looks by itself
                            same([[AHEAD], [AHEAD]], array_slice($state(), 1, 2), "$what: the one that waits");
                            holds(preg_match('/^\d+ 0 9 /', $admin->cmd('HGET', $waiters, AHEAD)) === 1, "$what: its sign of life", $admin->cmd('HGET', $waiters, AHEAD));
                            holds($admin->cmd('PTTL', $queue) === -1 || $admin->cmd('PTTL', $waiters) > 30000, "$what: the queue's end");
                        }
                    }
                    $is_sound($what, $grant, $fence);
                }
            }
        }
    }
}
foreach ([...NEEDED, OTHER_CLOCK] as $right) {
    // Without incr each lock also reads the clock. Without the other exceptions dlock works in another way, too.
    same(!in_array($right, ['+incr', OTHER_CLOCK, ...SILENT]), isset($failed[$right]), "without $right something fails");
}
// A lost key is repaired on a server whose fence may not be read.
$set_up('+get', fn () => null);
holds(is_string($try(fn () => $limited->cmd('EVAL', script('repair'), 2, $lock, 'dlock:fence', TOKEN, TTL, 5))), 'repair without +get fails');
same(null, $admin->cmd('GET', $lock), 'repair without +get');

// The same through the extension: the holder lacks a right, the waiter has all.
$kinds = ['DistributedLock' => private_locks('DistributedLock'), 'RedLock' => private_locks('RedLock', 3)];
$waiting = [];
foreach (['+time', '+getset', '+incr', '+publish', '+set', '+zpopmin', '+zrange', '+zrem', '+hget', '+hset', '+hdel', '&dlock:inbox:*'] as $i => $right) {
    foreach ($kinds as $kind => $locks) {
        $resource = unique("$kind-$i");
        foreach ($locks->raw() as $redis) {
            $redis->cmd('ACL', 'SETUSER', "user$i", 'reset', 'resetchannels', 'on', '>secret', ...RULES, ...['+info']);
        }
        $dsns = array_map(fn (string $address) => "redis://user$i:secret@$address", $locks->addresses);
        $lease = ($kind === 'RedLock' ? new RedLock($dsns, prefix: 'Lock:') : new DistributedLock($dsns[0]))->acquire($resource, 5, 100);
        $waiter = $locks->waiter($resource);
        $locks->waitUntilQueued($resource, 1);
        foreach ($locks->raw() as $redis) {
            $redis->cmd('ACL', 'SETUSER', "user$i", 'reset', 'resetchannels', 'on', '>secret', ...array_diff(RULES, [$right]), ...['+info']);
        }
        $waiting[] = [$kind, $right, $lease, $waiter];
    }
}
foreach ($waiting as [$kind, $right, $lease, $waiter]) {
    $released = now();
    $thrown = thrown_by(fn () => $lease->release());
    holds($thrown === null || $thrown instanceof Dlock\ConnectionException || $thrown instanceof Dlock\QuorumException, "$kind, release() without $right", $thrown);
    [$at, , $held] = $waiter->hear();
    same(true, $held, "$kind, release() without $right: the waiter");
    within(-0.1, $at - $released, SOON, "$kind, release() without $right: when the waiter had it");
    $waiter->say('release');
    same(true, $waiter->result(), "$kind, release() without $right: the waiter's release()");
}
echo "done\n";
?>
--EXPECT--
done
