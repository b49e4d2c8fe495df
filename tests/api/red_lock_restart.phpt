--TEST--
RedLock: a majority that restarts empty within a lease makes no second holder; it votes once it is old enough; servers started together vote at once
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--INI--
dlock.restart_guard=5
dlock.ttl=5
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

use Dlock\QuorumException;

$own = [redis_private(), redis_private(), redis_private()];
$red = new RedLock(array_map(fn ($server) => $server->dsn(), $own), 1, 2);
$resource = unique();
$young = 'has been up for only \d s, so it may have lost locks; it votes once it has been up for 5 s \(dlock\.restart_guard\)';
$reasons = function (?Throwable $e, string $what, array $expected) use ($young) {
    same(QuorumException::class, get_debug_type($e), $what);
    $errors = $e instanceof QuorumException ? $e->getServerErrors() : [];
    same(array_keys($expected), array_keys($errors), "$what: the servers with a reason");
    foreach ($expected as $address => $pattern) {
        holds((bool) preg_match("/^$pattern\$/", $errors[$address] ?? ''), "$what: the reason of $address", $errors[$address] ?? null);
    }
};

// All servers were just started.
$lock = $red->lock($resource, 5_000);
same($resource, $lock['resource'] ?? null, 'lock() on a new set');
same(null, $red->tryAcquire($resource), 'tryAcquire() on a new set, of what is held');
same(true, $red->unlock($lock), 'unlock() on a new set');

// The servers are older than the guard, and too old to count as started together.
$grow_old = fn () => wait_for(fn () => min(array_map(fn ($server) => $server->uptime(), $own)) >= 8, 60, 'the servers to grow old');
$grow_old();
same(true, $red->unlock($red->lock($resource, 5_000)), 'lock() on old servers');

for ($late = true, $attempt = 1; $late && $attempt <= 10; $attempt++) { // only while the servers are young
    $grow_old();
    $resource = unique("$attempt");
    ob_start();
    // The holder's majority restarts. The third server lacks the key, as if it had not answered in time.
    $lease = $red->acquire($resource, ttl: 5);
    $first = $lease->fencingToken;
    wait_for(fn () => $own[2]->raw()->cmd('GET', $resource) === $lease->token, 60, 'its key on the third'); // it may lag behind earlier requests
    $own[2]->raw()->cmd('DEL', $resource);
    $restart = now();
    $own[0]->restart();
    $own[1]->restart();
    // On a slow machine the holder has restored its key on them by then.
    $forget = fn () => array_map(fn ($server) => $server->raw()->cmd('DEL', $resource), $own);
    $both = [$own[0]->address() => $young, $own[1]->address() => $young];
    foreach (['the same object' => $red, 'another' => new RedLock(array_map(fn ($server) => $server->dsn() . '?read_timeout=62', $own), 1, 2)] as $who => $thief) {
        same(false, $thief->lock($resource, 5_000), "lock() by $who");
        $forget();
        $reasons(thrown_by(fn () => $thief->tryAcquire($resource)), "tryAcquire() by $who", $both);
        $forget();
        $e = thrown_by(fn () => $thief->acquire($resource, 0.1));
        $reasons($e, "acquire() by $who", $both);
        holds((bool) preg_match('/^[23] of 3 servers (have no vote|failed or have no vote) \(quorum 2\): Redis at /', $e?->getMessage() ?? ''), "the message for $who", $e?->getMessage());
    }
    $late = now() - $restart > 4 && $attempt < 10;
    $late ? ob_end_clean() : ob_end_flush();
}
// The holder may still believe that it holds. (If a server did not answer in time, the renewal thread may have
// noticed.)
wait_until_gone($own[0]->raw(), $resource);
wait_until_gone($own[1]->raw(), $resource);

// A waiter acquires the lock when the servers are old enough. Then the lease has ended.
$second = $red->acquire($resource, 60);
same(false, $lease->isHeld(), 'isHeld() of the first when there is a second');
within(4, min($own[0]->uptime(), $own[1]->uptime()), 40, 'how long they have been up');
holds($second->fencingToken > $first, 'the fencing token rises', $first, $second->fencingToken);
same(true, $second->release(), 'release() of the second');

// Now both vote like any other server, even if one was started a little later.
wait_for(fn () => min($own[0]->uptime(), $own[1]->uptime()) >= 7, 60, 'both to be old enough');
$own[2]->kill();
same(true, $red->tryAcquire($resource)?->release(), 'the two that had restarted');

// A young server stores the key as well, and takes part in refresh() and release().
$own[2]->restart();
$second = $red->acquire($resource, 0);
wait_for(fn () => $red->isLocked($resource) && $own[2]->raw()->cmd('GET', $resource) === $second->token, 60, 'the key on the young one');
$own[0]->raw()->cmd('DEL', $resource);
$second->refresh(5);
same(true, $second->release(), 'release() with a young one that has it');
wait_until_gone($own[2]->raw(), $resource);

// If all servers restart, they are a new set. If one of them is out of reach they are not, because that one may
// remember.
in_time(4, function () use ($own, $red, $resource, $young) {
    foreach ($own as $server) {
        $server->restart();
    }
    $lock = $red->lock($resource, 5_000);
    same(true, is_array($lock) && $red->unlock($lock), 'lock() when all have restarted');
    $own[1]->kill();
    same(false, $red->lock($resource, 5_000), 'lock() with one dead and two young');
    $e = thrown_by(fn () => $red->acquire($resource, 0));
    same(QuorumException::class, get_debug_type($e), 'acquire() with one dead and two young');
    same('Connection refused', $e->getServerErrors()[$own[1]->address()] ?? null, 'the reason of the dead one');
    holds(count(preg_grep("/^$young\$/", $e->getServerErrors())) >= 1, 'the reason of a young one, or of both', $e->getServerErrors());
});
same('done', $red->synchronized($resource, fn () => 'done', 60), 'synchronized() when they are old enough');
within(4, min($own[0]->uptime(), $own[2]->uptime()), 40, 'how long they have been up then');
echo "done\n";
?>
--EXPECT--
done
