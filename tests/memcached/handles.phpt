--TEST--
memcached: a handle works once, also in another process; the attached lease has tokens of its own
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\LeaseLostException;
use Dlock\LeaseState;

$server = new PrivateMemcached();
$raw = $server->raw();
$manager = new DistributedLock($server->dsn());

$lease = $manager->acquire('r', 0, 100);
[$token, $fence] = [$lease->token, $lease->fencingToken];
$handle = $lease->detach();
same([LeaseState::Released, false, false], [$lease->state(), $lease->isHeld(), $lease->release()], 'after detach()');
same($token, $raw->get('Lock:r'), 'the key after detach()');

// Another process attaches, and holds for the time that was left.
$child = fork_child(function (callable $say, callable $hear) use ($server, $handle) {
    $lease = (new DistributedLock($server->dsn()))->attach($handle);
    $say([$lease->resource, $lease->token, $lease->fencingToken, $lease->remaining()]);
    $hear();
    return $lease->release();
});
[$resource, $its_token, $its_fence, $remaining] = $child->hear();
same(['r', $raw->get('Lock:r')], [$resource, $its_token], 'the resource and its key after attach()');
holds($its_token !== $token && $its_fence > $fence, 'tokens of its own', $token, $its_token, $fence, $its_fence);
within(50, $remaining, 100 - 1 - MEMCACHED_MARGIN, 'the time that is left');
fails(LeaseLostException::class, '*"r"*', fn () => $manager->attach($handle), 'once more');
same($its_token, $raw->get('Lock:r'), 'the key after an attach() too many');
$child->say(null);
same(true, $child->result(), 'release() in the other process');
same(null, $raw->get('Lock:r'), 'the key after release()');
fails(LeaseLostException::class, '*"r"*', fn () => $manager->attach($handle), 'after its release');

// Of several processes that attach a handle at the same time, one succeeds.
for ($round = 0; $round < 10; $round++) {
    $handle = $manager->acquire("round-$round", 0, 100)->detach();
    $had = fork_run(4, function () use ($server, $handle) {
        try {
            $lease = (new DistributedLock($server->dsn(), releaseOnShutdown: false))->attach($handle);
            return 'had';
        } catch (LeaseLostException) {
            return 'late';
        }
    }, 'kill');
    sort($had);
    same(['had', 'late', 'late', 'late'], $had, "round $round");
}

// A lock that another client has acquired meanwhile, an altered handle, and another server's.
$handle = $manager->acquire('r', 0, 100)->detach();
$raw->set('Lock:r', 'somebody-else', 100);
fails(LeaseLostException::class, '*"r"*', fn () => $manager->attach($handle), 'somebody else has it');
same('somebody-else', $raw->get('Lock:r'), 'what somebody else has');
$raw->delete('Lock:r');
fails(LeaseLostException::class, '*"r"*', fn () => $manager->attach($handle), 'nobody has it');
fails(ValueError::class, '*attach(): Argument #1 ($handle)*', fn () => $manager->attach(strrev($handle)), 'altered');
$redis = (new DistributedLock(redis_server()))->acquire(unique(), 0, 100);
fails(ValueError::class, '*attach(): Argument #1 ($handle)*', fn () => $manager->attach($redis->detach()), 'of a lock on Redis');

// The lease is renewed after attach(), too.
$lease = (new DistributedLock($server->dsn(), ttl: 15))->acquire('renewed');
$lease = $manager->attach($lease->detach());
$server->waitForRenewal('Lock:renewed');
same([true, true], [$lease->isHeld(), $lease->release()], 'one that is renewed');

// A lease that has expired.
$handle = $manager->acquire('short', 0, 100)->detach();
$raw->say('touch Lock:short 1');
wait_for(fn () => $raw->get('Lock:short') === null, 60, 'the end of the key');
fails(LeaseLostException::class, '*"short"*', fn () => $manager->attach($handle), 'too late');
echo "done\n";
?>
--EXPECT--
done
