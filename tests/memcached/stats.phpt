--TEST--
memcached: what Dlock\stats() counts; fencing tokens rise over holders, restarts of the server, and the counter's loss
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

/** What $do adds to the counters. */
function added(callable $do): array
{
    $before = Dlock\stats();
    $do();
    $added = [];
    foreach (Dlock\stats() as $name => $value) {
        if ($value != $before[$name]) {
            $added[$name] = $value - $before[$name];
        }
    }
    return $added;
}

$server = new PrivateMemcached();
$raw = $server->raw();
$lock = new DistributedLock($server->dsn());
same([], added(fn () => new DistributedLock($server->dsn())), 'a constructor');
same(['acquisitions' => 1, 'connections' => 1], added(fn () => $lock->lock('r', 0, 100)), 'the first lock()');
same(['releases' => 1], added(fn () => $lock->release('r')), 'release()');
same([], added(fn () => $lock->release('r')), 'release() of what is not held');
same(['acquisitions' => 1, 'releases' => 1], added(fn () => $lock->acquire('r', 0, 100)->release()), 'acquire() and release()');
same(['acquisitions' => 1, 'releases' => 1], added(fn () => $lock->synchronized('r', fn () => 1, ttl: 100)), 'synchronized()');
same(['acquisitions' => 1], added(function () use ($lock) {
    $lease = $lock->acquire('r', 0, 100);
}), 'a lease out of scope');
$raw->set('Lock:theirs', 'theirs', 100);
same(['timeouts' => 1], added(fn () => $lock->lock('theirs', 0)), 'an attempt');
$added = added(fn () => $lock->lock('theirs', 0.2));
within(0.2, $added['wait_time'] ?? 0, 10, 'seconds waited in vain');
unset($added['wait_time']);
same(['waits' => 1, 'timeouts' => 1], $added, 'a wait in vain');
$lock->lock('r', 0, 100);
$raw->delete('Lock:r');
same(['losses' => 1], added(fn () => $lock->release('r')), 'release() of what was lost');
$lease = (new DistributedLock($server->dsn(), ttl: 15))->acquire('renewed');
$renewals = Dlock\stats()['renewals'];
$added = added(fn () => wait_for(fn () => Dlock\stats()['renewals'] >= $renewals + 2));
within(2, $added['renewals'] ?? 0, 20, 'renewals');
$reconnections = $added['reconnections'] ?? 0; // if the machine was too slow for an answer
same([], array_diff_key($added, ['renewals' => 0, 'connections' => 0, 'reconnections' => 0]), 'renewals, and no more');
within(0, $added['connections'] ?? 0, 1 + $reconnections, 'the connection that renews');
same(true, $lease->release(), 'after renewals');
same(null, thrown_by(fn () => Dlock\stats()), 'stats()');

// ---- fencing tokens ----
$last = 0;
$next = function (string $what, ?DistributedLock $by = null, string $resource = 'fence') use ($lock, &$last) {
    $lease = ($by ?? $lock)->acquire($resource, 0, 100);
    holds($lease->fencingToken > $last, "$what: it rises", $last, $lease->fencingToken);
    $last = $lease->fencingToken;
    same(true, $lease->release(), "$what: release()");
};
$next('the first');
within((wall_ms() - 3600e3) * 1000, $last, (wall_ms() + 1000) * 1000, 'it begins with the time in microseconds');
for ($i = 0; $i < 100; $i++) {
    $next("turn $i");
}
$next('another object', new DistributedLock($server->dsn()));
$next('another resource', null, 'fence-2');
$next('another prefix', new DistributedLock($server->dsn(), 'x:'));
$last = max([$last, ...fork_run(3, fn () => $lock->acquire('own-' . getmypid(), 0, 100)->fencingToken)]);
$next('after other processes');
$server->restart();
$next('after a restart of the server');
$server->raw()->delete('dlock:fence');
$next('after the loss of the counter');
$server->raw()->say('flush_all');
$next('after a flush');

// A counter that is no number is reported, and the attempt leaves the lock free.
foreach (['x', '', '9223372036854775807', '18446744073709551615', '-5'] as $value) {
    $server->raw()->set('dlock:fence', $value, 0);
    fails(Dlock\ConnectionException::class, "memcached at {$server->address()}: the key dlock:fence must be a number*", fn () => $lock->acquire('odd', 0, 100), "a counter of \"$value\"");
    wait_for(fn () => !$lock->isLocked('odd'), 60, "the lock to be free after a counter of \"$value\"");
}
$server->raw()->delete('dlock:fence');
$next('after the counter was deleted');
echo "done\n";
?>
--EXPECT--
done
