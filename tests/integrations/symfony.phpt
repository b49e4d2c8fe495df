--TEST--
Symfony Lock works on DistributedLock, RedLock and ZkLock: acquire, exclude, refresh, expire, release, wait
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork');
skip_unless_integration('symfony/DlockStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require '/usr/share/php/Symfony/Component/Lock/autoload.php';
require integration('symfony/DlockStore.php');

use Dlock\Symfony\DlockStore;
use Symfony\Component\Lock\Exception\InvalidTtlException;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Exception\LockExpiredException;
use Symfony\Component\Lock\Exception\LockReleasingException;
use Symfony\Component\Lock\Exception\LockStorageException;
use Symfony\Component\Lock\Exception\UnserializableKeyException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;

foreach (managers() as $name => [$manager, $waitUntilWaiting]) {
    $factory = new LockFactory(new DlockStore($manager()));
    $resource = unique($name);

    // One holder at a time, in this process.
    $lock = $factory->createLock($resource, 100);
    $other = $factory->createLock($resource, 100);
    same([false, false], [$lock->isAcquired(), $other->isAcquired()], "$name: isAcquired() before");
    same([true, false], [$lock->acquire(), $other->acquire()], "$name: acquire()");
    same([true, false], [$lock->isAcquired(), $other->isAcquired()], "$name: isAcquired()");
    same(true, $lock->acquire(), "$name: acquire() of what is held by this very lock");
    if ($name === 'ZkLock') {
        same(null, $lock->getRemainingLifetime(), "$name: getRemainingLifetime()");
    } else {
        within(50, $lock->getRemainingLifetime(), 100, "$name: getRemainingLifetime()");
        $lock->refresh(1000);
        within(500, $lock->getRemainingLifetime(), 1000, "$name: getRemainingLifetime() after refresh()");
    }
    same(false, $lock->isExpired(), "$name: isExpired()");

    same([true, false], [$lock->acquireRead(), $other->acquireRead()], "$name: acquireRead()");

    // An object that does not hold the lock cannot release or refresh it.
    $other->release();
    fails(LockConflictedException::class, '*', fn () => $other->refresh(), "$name: refresh() of another's lock");
    same([true, false], [$lock->isAcquired(), $other->isAcquired()], "$name: isAcquired() after release() of another's lock");

    // One holder at a time, in other processes. The release hands the lock to a waiter.
    $child = fork_child(function (callable $say, callable $hear) use ($manager, $resource) {
        $lock = (new LockFactory(new DlockStore($manager())))->createLock($resource, 100);
        $say([$lock->acquire(), $lock->isAcquired()]);
        $lock->acquire(true);
        $say('acquired');
        $hear();
        $lock->release();
        return $lock->isAcquired();
    });
    same([false, false], $child->hear(), "$name: acquire() in another process");
    $waitUntilWaiting($resource);
    $lock->release();
    same('acquired', $child->hear(), "$name: acquire(true) in another process");
    same([false, false], [$lock->acquire(), $lock->isAcquired()], "$name: after the release");
    $hurried = (new LockFactory(new DlockStore($manager(), 100, 0.2)))->createLock($resource);
    fails(LockConflictedException::class, '*', fn () => $hurried->acquire(true), "$name: acquire(true) with a timeout");
    $child->say('release');
    same(false, $child->result(), "$name: isAcquired() after the release in another process");
    same(true, $lock->acquire(), "$name: acquire() after the release in another process");
    $lock->release();
    $lock->release(); // a second release does no harm

    // The lock ends with its object, unless autoRelease is off.
    $lock = $factory->createLock($resource, 100);
    $lock->acquire();
    unset($lock);
    same(true, $other->acquire(), "$name: acquire() after the end of another lock");
    $other->release();
    $lock = $factory->createLock($resource, 100, false);
    $lock->acquire();
    unset($lock);
    same(false, $other->acquire(), "$name: acquire() after the end of a lock without autoRelease");

    // Fencing tokens.
    $store = new DlockStore($manager());
    $tokens = [];
    for ($i = 0; $i < 3; $i++) {
        $key = new Key("$resource-fence");
        $lock = (new LockFactory($store))->createLockFromKey($key, 100);
        fails(LockConflictedException::class, '*', fn () => $store->fencingToken($key), "$name: fencingToken() before");
        $lock->acquire();
        $tokens[] = $store->fencingToken($key);
        same(true, $lock->isAcquired(), "$name: isAcquired() with a fencing token");
        // Each look at a lock on Redis attaches it.
        $again = $store->fencingToken($key);
        holds($name === 'ZkLock' ? $again === $tokens[$i] : $again > $tokens[$i], "$name: fencingToken() again", $again, $tokens[$i]);
        $tokens[$i] = $again;
        $lock->release();
        fails(LockConflictedException::class, '*', fn () => $store->fencingToken($key), "$name: fencingToken() after the release");
    }
    holds($tokens[0] > 0 && $tokens[0] < $tokens[1] && $tokens[1] < $tokens[2], "$name: fencing tokens rise", $tokens);

    // Critical sections of four processes.
    $gate = gate();
    same([10, 10, 10, 10], fork_run(4, function () use ($manager, $resource, $gate) {
        $factory = new LockFactory(new DlockStore($manager()));
        for ($i = 0; $i < 10; $i++) {
            $lock = $factory->createLock("$resource-sections", 100);
            $lock->acquire(true);
            enter($gate);
            pause(0.001);
            leave($gate);
            $lock->release();
        }
        return $i;
    }), "$name: sections");
}

// ---- on Redis: the lease time, and a Key that another process uses ----
foreach (['DistributedLock', 'RedLock'] as $name) {
    [$manager] = managers()[$name];
    $factory = new LockFactory(new DlockStore($manager()));
    $resource = unique("redis $name");

    $lock = $factory->createLock($resource, 2);
    same(true, $lock->acquire(), "$name: acquire() for 2 s");
    $other = $factory->createLock($resource, 100);
    wait_for(fn () => $other->acquire() ?: pause(0.1), 60, 'the end of the lease'); // not so often that a slow server has no room for more
    same([true, false, true], [$lock->isExpired(), $lock->isAcquired(), $other->isAcquired()], "$name: after the lease");
    fails(LockConflictedException::class, '*', fn () => $lock->refresh(), "$name: refresh() after the lease");
    $lock->release();
    same(true, $other->isAcquired(), "$name: release() after the lease leaves another's lock alone");
    same(false, $lock->acquire(), "$name: acquire() after the lease");

    // A lock whose refresh failed is still held.
    fails(LockAcquiringException::class, '*', fn () => $other->refresh(1e10), "$name: refresh() for too long");
    same(true, $other->isAcquired(), "$name: isAcquired() after that");
    $other->release();

    // A process acquires with a Key, and ends; another process continues with the Key.
    $serialized = fork_child(function () use ($manager, $resource) {
        $key = new Key($resource);
        $lock = (new LockFactory(new DlockStore($manager())))->createLockFromKey($key, 100, false);
        return $lock->acquire() ? serialize($key) : '';
    })->result();
    same(false, $other->acquire(), "$name: acquire() after the end of a process that left its Key");
    $lock = $factory->createLockFromKey($key = unserialize($serialized), 100, false);
    same(true, $lock->isAcquired(), "$name: isAcquired() with a Key from another process");
    within(50, $lock->getRemainingLifetime(), 100, "$name: getRemainingLifetime() with a Key from another process");
    $lock->refresh(500);
    within(400, $lock->getRemainingLifetime(), 500, "$name: getRemainingLifetime() after refresh()");
    holds((new DlockStore($manager()))->fencingToken($key) > 0, "$name: fencingToken() of a Key from another process");
    same(true, fork_child(function () use ($manager, $key) {
        $lock = (new LockFactory(new DlockStore($manager())))->createLockFromKey(unserialize(serialize($key)), 100, false);
        $lock->release();
        return !$lock->isAcquired();
    })->result(), "$name: release() in another process");
    same([false, true], [$lock->isAcquired(), $other->acquire()], "$name: after the release in another process");
    $other->release();

    // Of several copies of a Key, the first that is used holds the lock, and so does a copy of that one.
    $store = new DlockStore($manager());
    $store->save($key = new Key($resource));
    $copies = [unserialize(serialize($key)), unserialize(serialize($key))];
    same([true, false, false], [$store->exists($copies[0]), $store->exists($copies[1]), $store->exists($key)], "$name: exists() with copies of a Key");
    fails(LockConflictedException::class, '*', fn () => $store->putOffExpiration($copies[1], 100), "$name: putOffExpiration() with a later copy");
    $store->delete($copies[1]);
    $store->delete($key);
    same(true, $store->exists($copies[0]), "$name: exists() after delete() with later copies");
    $back = unserialize(serialize($copies[0]));
    $store->putOffExpiration($back, 100);
    same([true, false], [$store->exists($back), $store->exists($copies[0])], "$name: exists() with a Key that was handed back");
    $store->delete($back);
    same(false, $manager()->isLocked($resource), "$name: isLocked() after delete() with a Key that was handed back");

    // If the lifetime has ended, or is too short, the store releases the lock and throws.
    $store->save($key = new Key($resource));
    fails(LockExpiredException::class, '*', fn () => $store->putOffExpiration($key, 1e-6), "$name: putOffExpiration() for a moment");
    same([true, false, false], [$key->isExpired(), $store->exists($key), $manager()->isLocked($resource)], "$name: after that");
    foreach (['save' => [], 'waitAndSave' => [], 'putOffExpiration' => [100]] as $method => $arguments) {
        $store->save($key = new Key($resource));
        $key->reduceLifetime(0);
        fails(LockExpiredException::class, '*', fn () => $store->$method($key, ...$arguments), "$name: $method() with a Key whose lifetime is over");
        same([false, false], [$store->exists($key), $manager()->isLocked($resource)], "$name: after $method()");
    }

    // Without a TTL of its own, a lock has the store's.
    $lock = (new LockFactory(new DlockStore($manager(), 50)))->createLock($resource, null);
    $lock->acquire();
    within(25, $lock->getRemainingLifetime(), 50, "$name: getRemainingLifetime() without a TTL");
    $lock->release();
    same(false, $manager()->isLocked($resource), "$name: isLocked() in the end");
}

// ---- on ZooKeeper: the lock stays in this process ----
[$manager] = managers()['ZkLock'];
$store = new DlockStore($manager());
$lock = (new LockFactory($store))->createLockFromKey($key = new Key(unique('zk')), 100);
$lock->acquire();
fails(UnserializableKeyException::class, '*', fn () => serialize($key), 'a Key of ZkLock');
fails(LockAcquiringException::class, '*', fn () => (new LockFactory($store))->createLock((string) $key)->acquire(true),
    'a wait for what this process holds');
$zk = zk_raw();
$zk->deleteAll("/locks/$key");
same(true, (new LockFactory($store))->createLock((string) $key)->acquire(), 'acquire() of what somebody deleted');
$server = zk_private();
$factory = new LockFactory(new DlockStore(new ZkLock($server->hosts(), sessionTimeout: 10)));
[$lock, $other] = [$factory->createLock('x', 100), $factory->createLock('y', 100)];
same([true, true], [$lock->acquire(), $other->acquire()], 'acquire() with a server of its own');
$server->pause();
wait_for(fn () => !$lock->isAcquired(), 60, 'the end of the session');
fails(LockConflictedException::class, '*', fn () => $lock->refresh(), 'refresh() after the session, known to be lost');
fails(LockConflictedException::class, '*', fn () => $other->refresh(), 'refresh() after the session');
$server->resume();

// ---- errors ----
fails(InvalidTtlException::class, '*greater than 0, not 0*', fn () => new DlockStore($manager(), 0));
// The process stands still right after it has acquired.
$slow = new class(managers()['DistributedLock'][0]()) implements Dlock\LockManager {
    public function __construct(private Dlock\LockManager $locks)
    {
    }

    public function acquire(string|array $resource, ?float $timeout = null, ?float $ttl = null): Dlock\Lease
    {
        $lease = $this->locks->acquire($resource, $timeout, $ttl);
        wait_for(fn () => !$lease->isHeld(), 60, 'the end of the lease');
        return $lease;
    }

    public function tryAcquire(string|array $resource, float $timeout = 0.0, ?float $ttl = null): ?Dlock\Lease
    {
        return $this->acquire($resource, $timeout, $ttl);
    }

    public function synchronized(string|array $resource, callable $criticalSection, ?float $timeout = null, ?float $ttl = null): mixed
    {
        return null;
    }

    public function attach(string $handle): Dlock\Lease
    {
        return $this->locks->attach($handle);
    }

    public function isLocked(string $resource): bool
    {
        return $this->locks->isLocked($resource);
    }
    public function inspect(string $resource, int $waiters = 100): Dlock\Inspection
    {
        return $this->locks->inspect($resource, $waiters);
    }
    public function inspectAll(int $limit = 100): array
    {
        return $this->locks->inspectAll($limit);
    }
};
$over = new Key(unique('over'));
fails(LockExpiredException::class, '*', fn () => (new DlockStore($slow, 2))->save($over),
    'a lease that is over when it has just been acquired');
fails(LockConflictedException::class, '*', fn () => (new DlockStore($slow))->fencingToken($over), 'its Key');

$server = redis_private();
$lock = (new LockFactory(new DlockStore(new DistributedLock($server->dsn()))))->createLock('x', 100);
$held = (new LockFactory(new DlockStore(new DistributedLock($server->dsn()))))->createLock('y', 100);
$held->acquire();
$server->kill();
$thrown = thrown_by(fn () => $lock->acquire());
same([LockAcquiringException::class, LockAcquiringException::class, Dlock\ConnectionException::class],
    [$thrown::class, $thrown->getPrevious()::class, $thrown->getPrevious()->getPrevious()::class], 'acquire() without a server');
fails(LockAcquiringException::class, '*', fn () => $lock->acquire(true), 'acquire(true) without a server');
fails(LockAcquiringException::class, '*', fn () => $held->refresh(), 'refresh() without a server');
fails(LockReleasingException::class, '*', fn () => $held->release(), 'release() without a server');
fails(LockStorageException::class, '*', fn () => $held->isAcquired(), 'isAcquired() without a server');
$server->restart();
same([false, true], [$held->isAcquired(), $lock->acquire()], 'with a server that has forgotten all');
$lock->release();
echo "done\n";
?>
--EXPECT--
done
