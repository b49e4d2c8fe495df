--TEST--
Symfony Lock and Laravel's locks work on memcached and memory://, with the lease times that these support; memcached's add by hand
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
skip_unless_integration('symfony/DlockStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
skip_unless_integration('laravel/Lock.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require __DIR__ . '/../inc/memcached.inc';
load_integrations();

use Dlock\Laravel\LockProvider;
use Dlock\Symfony\DlockStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;

$server = new PrivateMemcached();
foreach (['memcached' => $server->dsn(), 'memory' => 'memory://tests'] as $name => $dsn) {
    $manager = fn () => new DistributedLock($dsn);

    // Symfony.
    $store = new DlockStore($manager(), timeout: 0.2);
    $factory = new LockFactory($store);
    [$lock, $other] = [$factory->createLock('s', 100), $factory->createLock('s', 100)];
    same([true, false], [$lock->acquire(), $other->acquire()], "$name: acquire()");
    same([true, false], [$lock->isAcquired(), $other->isAcquired()], "$name: isAcquired()");
    $lock->refresh(1000);
    within(500, $lock->getRemainingLifetime(), 1000, "$name: getRemainingLifetime() after refresh()");
    same(false, $other->acquire(), "$name: acquire() after refresh()");
    $lock->release();
    same(true, $other->acquire(true), "$name: acquire(true) after release()");
    $other->release();

    $key = new Key('k');
    $store->save($key);
    $copy = unserialize(serialize($key));
    same([true, false], [$store->exists($copy), $store->exists($key)], "$name: a Key that was serialized");
    $fence = $store->fencingToken($copy);
    same(true, $store->exists($copy), "$name: exists() again");
    holds($store->fencingToken($copy) > $fence, "$name: fencingToken() rises");
    $store->delete($copy);

    // TTLs that memcached does not support.
    $short = $factory->createLock('short', 1);
    $long = $factory->createLock('long', 2_592_001);
    if ($name === 'memcached') {
        foreach ([$short, $long] as $refused) {
            fails(LockAcquiringException::class, '*', fn () => $refused->acquire(), "$name: such a TTL");
        }
        unset($short, $long, $refused);
        same([false, false], [$manager()->isLocked('short'), $manager()->isLocked('long')], "$name: released after that");
    } else {
        same([true, true], [$short->acquire(), $long->acquire()], "$name: any TTL");
        $short->release();
        $long->release();
    }

    // Laravel.
    $locks = new LockProvider($manager());
    [$lock, $other] = [$locks->lock('l', 100), $locks->lock('l', 100)];
    same([true, false], [$lock->get(), $other->get()], "$name: get()");
    fails(LockTimeoutException::class, '*', fn () => $other->block(0.1), "$name: block()");
    same(true, $locks->restoreLock('l', $lock->owner())->release(), "$name: restoreLock()");
    same('done', $locks->lock('c')->get(fn () => $manager()->isLocked('c') ? 'done' : 'not locked'), "$name: a callback");
    same(false, $manager()->isLocked('c'), "$name: after the callback");
    foreach ([0, 3] as $seconds) {
        if ($name === 'memcached' && $seconds > 0) {
            fails(InvalidArgumentException::class, '*between 4*', fn () => $locks->lock('v', $seconds)->get(), "$name: $seconds seconds");
        } else {
            $lock = $locks->lock("v$seconds", $seconds);
            same([true, true], [$lock->get(), $lock->release()], "$name: $seconds seconds");
        }
    }
}

// `add` by hand and dlock exclude each other.
$locks = new DistributedLock($server->dsn());
$hand = $server->raw();
$lease = $locks->acquire('order', ttl: 60.0);
same(false, $hand->add('Lock:order', '1', 60), 'add of what we hold');
same(true, $lease->release(), 'release() after that');
same(true, $hand->add('Lock:order', '1', 60), 'add after the release');
same(null, $locks->tryAcquire('order'), 'tryAcquire() of what is added');
same(true, $hand->delete('Lock:order'), 'delete');
$lease = $locks->tryAcquire('order', 0, 60.0);
same(true, $hand->delete('Lock:order'), 'delete of what we hold');
fails(Dlock\LeaseLostException::class, '*', fn () => $lease->refresh(), 'refresh() after that');
echo "done\n";
?>
--EXPECT--
done
