--TEST--
Laravel's cache locks work on DistributedLock, RedLock and ZkLock: get(), block(), release(), owners in other processes, forceRelease(), Cache::lock()
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork');
skip_unless_integration('laravel/Lock.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require '/usr/share/php/Illuminate/Cache/autoload.php';
require integration('laravel/HeldLocks.php');
require integration('laravel/Lock.php');
require integration('laravel/LockProvider.php');

use Dlock\Laravel\LockProvider;
use Illuminate\Cache\ArrayStore;
use Illuminate\Cache\Repository;
use Illuminate\Contracts\Cache\Lock as LockContract;
use Illuminate\Contracts\Cache\LockProvider as LockProviderContract;
use Illuminate\Contracts\Cache\LockTimeoutException;

/** As an application may wrap it, for example in Dlock\OpenTelemetry\TracedLocks. */
function wrapped(Dlock\LockManager $locks): Dlock\LockManager
{
    return new class($locks) implements Dlock\LockManager {
        public function __construct(private Dlock\LockManager $locks) {}
        public function inner(): Dlock\LockManager { return $this->locks; }
        public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): Dlock\Lease { return $this->locks->acquire($resource, $timeout, $ttl); }
        public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?Dlock\Lease { return $this->locks->tryAcquire($resource, $timeout, $ttl); }
        public function synchronized(string|array $resource, callable $section, ?float $timeout = null, ?float $ttl = null): mixed { return $this->locks->synchronized($resource, $section, $timeout, $ttl); }
        public function attach(string $handle): Dlock\Lease { return $this->locks->attach($handle); }
        public function isLocked(string $resource): bool { return $this->locks->isLocked($resource); }
        public function inspect(string $resource, int $waiters = 100): Dlock\Inspection { return $this->locks->inspect($resource, $waiters); }
        public function inspectAll(int $limit = 100): array { return $this->locks->inspectAll($limit); }
    };
}

foreach (managers() as $name => [$manager, $waitUntilWaiting]) {
    $locks = new LockProvider($manager());
    holds($locks instanceof LockProviderContract && $locks->lock('x') instanceof LockContract, "$name: the framework's interfaces");
    $resource = unique($name);

    // Without a callback, get() holds until release().
    $lock = $locks->lock($resource, 100);
    $other = $locks->lock($resource, 100);
    same([true, false, false], [$lock->get(), $other->get(), $lock->get()], "$name: get()");
    same(false, $other->release(), "$name: release() of another's lock");
    same(false, $other->get(), "$name: get() after release() of another's lock");
    same(null, $other->fencingToken(), "$name: fencingToken() of who does not hold it");
    $token = $lock->fencingToken();
    holds($token > 0, "$name: fencingToken()", $token);
    same([true, false], [$lock->release(), $lock->release()], "$name: release()");
    same(true, $other->acquire(), "$name: acquire() after release()");
    holds($other->fencingToken() > $token, "$name: fencing tokens rise", $token, $other->fencingToken());
    if (method_exists($other, 'isOwner')) { // only later versions have it
        same([false, true], [$lock->isOwner(), $other->isOwner()], "$name: isOwner()");
    }
    same(true, $other->release(), "$name: release() in the end");

    // With a callback, get() holds while it runs, however it ends.
    foreach ([0, 100] as $seconds) {
        $lock = $locks->lock($resource, $seconds);
        same(['result', false], $lock->get(fn () => ['result', $locks->lock($resource, 100)->get()]), "$name: get(callback), $seconds s");
        same(false, $manager()->isLocked($resource), "$name: isLocked() after get(callback), $seconds s");
        $thrown = thrown_by(fn () => $lock->get(fn () => throw new RuntimeException('of the callback'))); // its trace has the lease
        same('of the callback', $thrown?->getMessage(), "$name: a callback that throws, $seconds s");
        same(false, $manager()->isLocked($resource), "$name: isLocked() after a callback that throws, $seconds s");
        same(true, $lock->get(fn () => $lock->release()), "$name: release() in the callback, $seconds s");
    }
    $other->get();
    same(false, $lock->get(fn () => print "called\n"), "$name: get(callback) of another's lock");
    fails(LockTimeoutException::class, '*not free within 0 seconds.', fn () => $lock->block(0, fn () => print "called\n"));

    // A wait ends with the release, or at its time limit.
    $child = fork_child(function (callable $say, callable $hear) use ($manager, $resource) {
        $locks = new LockProvider($manager());
        $say($locks->lock($resource, 100)->get());
        try {
            $locks->lock($resource, 100)->block(1, fn () => print "called\n");
        } catch (LockTimeoutException) {
            $say('timeout');
        }
        $result = $locks->lock($resource, 100)->block(60, function () use ($say, $hear) {
            $say('called');
            return $hear();
        });
        return [$result, $locks->lock("$resource-2", 100)->block(60)];
    });
    same(false, $child->hear(), "$name: get() in another process");
    same('timeout', $child->hear(), "$name: block(1) in another process");
    $waitUntilWaiting($resource);
    $other->release();
    same('called', $child->hear(), "$name: block(60) in another process");
    same(false, $lock->get(), "$name: get() while the callback of another process runs");
    $child->say('result');
    same(['result', true], $child->result(), "$name: block(60) in another process");
    same(true, $lock->get() && $lock->release(), "$name: get() after the callback of another process");

    // A request ends in the callback.
    $child = fork_child(fn () => (new LockProvider($manager()))->lock($resource, 100)->get(fn () => exit(7)));
    same(7, pcntl_wexitstatus($child->wait()), "$name: exit in a callback");
    same(true, $lock->get() && $lock->release(), "$name: get() after exit in a callback");

    // forceRelease() does not ask for the owner.
    $lock->get();
    $lock->forceRelease(); // the object's own lock
    $lock->forceRelease(); // a free lock
    same(true, $other->get(), "$name: get() after forceRelease()");
    $lock->forceRelease();
    same([true, false], [$lock->get(), $other->release()], "$name: get() after forceRelease() of another object's lock");
    same(true, $lock->release(), "$name: release() in the end");

    // Only strings of owner() are owners.
    fails(InvalidArgumentException::class, '*It cannot be chosen.', fn () => $locks->lock($resource, 100, 'me'), $name);
    fails(InvalidArgumentException::class, '*', fn () => $locks->restoreLock($resource, 'me'), $name);
}

// ---- on Redis: a process with the owner string controls the lock ----
foreach (['DistributedLock', 'RedLock'] as $name) {
    [$manager] = managers()[$name];
    $locks = new LockProvider($manager());
    $resource = unique("redis $name");

    // The lock remains after its object and process have ended.
    $owner = fork_child(function () use ($manager, $resource) {
        $lock = (new LockProvider($manager()))->lock($resource, 100);
        return $lock->get() ? $lock->owner() : '';
    })->result();
    same(false, $locks->lock($resource, 100)->get(), "$name: get() after the end of the process");
    // Only that owner can release it.
    fails(InvalidArgumentException::class, '*', fn () => $locks->restoreLock($resource, substr($owner, 7)), "$name: half an owner");
    same(false, $locks->restoreLock($resource, "{$owner}x")->release(), "$name: release() by an altered owner");
    same(false, $locks->restoreLock("$resource-2", $owner)->release(), "$name: release() of a lock by the owner of another");
    same(false, $locks->lock($resource, 100)->get(), "$name: get() after what did not release it");
    // The owner works in another process.
    [$fence, $next] = fork_child(function () use ($manager, $resource, $owner) {
        $lock = (new LockProvider($manager()))->restoreLock($resource, $owner);
        return [$lock->fencingToken(), $lock->owner()];
    })->result();
    holds($fence > 0, "$name: fencingToken() of a restored lock", $fence);
    // An owner works once, and is replaced by another one.
    same(false, $locks->restoreLock($resource, $owner)->release(), "$name: release() by an owner that was used");
    same(false, $locks->lock($resource, 100)->get(), "$name: get() after that");
    $lock = $locks->restoreLock($resource, $next);
    same([true, false], [$lock->isOwnedBy($next), $lock->isOwnedBy($next)], "$name: isOwnedBy()");
    same(true, $lock->isOwnedBy($lock->owner()), "$name: isOwnedBy() with the owner as it is now");
    $owner = $lock->owner();
    same([true, false], fork_child(function () use ($manager, $resource, $owner) {
        $lock = (new LockProvider($manager()))->restoreLock($resource, $owner);
        return [$lock->release(), $lock->release()];
    })->result(), "$name: release() of a restored lock");
    same(true, $locks->lock($resource, 2)->get(), "$name: get() for two seconds");
    wait_for(fn () => $locks->lock($resource, 100)->get(), 60, 'the end of the two seconds');

    // Without seconds, the lock has no end. With a callback it is renewed, and ends with a killed process.
    $lock = $locks->lock("$resource-0");
    $lock->get();
    holds(redis_raw()->cmd('PTTL', "Lock:$resource-0") > 1e10, "$name: without seconds");
    same(true, $lock->release(), "$name: release() of a lock without seconds");
    $child = fork_child(function (callable $say, callable $hear) use ($manager, $resource) {
        (new LockProvider($manager(ttl: 12)))->lock("$resource-0")->get(function () use ($say, $hear) {
            $say('held');
            $hear();
        });
    });
    same('held', $child->hear(), "$name: a callback without seconds");
    $left = fn () => redis_raw()->cmd('PTTL', "Lock:$resource-0") / 1000;
    $end = $left() + now(); // or a later time
    wait_for(fn () => now() + $left() > $end + 1, 60, "$name: a renewal");
    $child->kill();
    array_map(fn (int $server) => redis_raw($server)->cmd('PEXPIRE', "Lock:$resource-0", 1000), range(0, 5));
    same('result', $locks->lock("$resource-0")->block(60, fn () => 'result'), "$name: a killed callback");

    // Another process ends a lock that nothing renews. Its manager is wrapped.
    $other = $locks->lock("$resource-0", 100);
    $other->get();
    fork_child(fn () => (new LockProvider(wrapped($manager())))->lock("$resource-0")->forceRelease())->result();
    same(true, $lock->get(), "$name: get() after forceRelease()");
    same(false, $other->release(), "$name: release() after forceRelease()");
    same(true, $lock->release(), "$name: release() in the end");
}

// ---- Cache::lock(): a store with these locks ----
$repository = new Repository(new class(new LockProvider(new DistributedLock(redis_server()))) extends ArrayStore {
    public function __construct(private LockProvider $dlock)
    {
        parent::__construct();
    }

    public function lock($name, $seconds = 0, $owner = null)
    {
        return $this->dlock->lock($name, $seconds, $owner);
    }

    public function restoreLock($name, $owner)
    {
        return $this->dlock->restoreLock($name, $owner);
    }
});
$resource = unique('cache');
$lock = $repository->lock($resource, 100);
same([true, true], [$lock->get(), (new DistributedLock(redis_server()))->isLocked($resource)], 'Repository::lock()');
same(true, $repository->restoreLock($resource, $lock->owner())->release(), 'Repository::restoreLock()');
same('result', $repository->lock($resource, 100)->block(5, fn () => 'result'), 'block() of Repository::lock()');
echo "done\n";
?>
--EXPECT--
done
