--TEST--
Symfony Lock and Laravel's locks work in databases, with lease times below and above the guard
--EXTENSIONS--
pdo
mysqlnd
pdo_mysql
pdo_pgsql
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_databases();
skip_unless_integration('symfony/DlockStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
skip_unless_integration('laravel/Lock.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require __DIR__ . '/../inc/database.inc';
load_integrations();

use Dlock\Laravel\LockProvider;
use Dlock\Symfony\DlockStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;

foreach (private_databases() as $kind => $server) {
    $manager = fn () => new DistributedLock($server->dsn('create=1&guard=3600'));
    $store = new DlockStore($manager(), timeout: 0.2);
    $factory = new LockFactory($store);
    [$lock, $other] = [$factory->createLock('s', 100), $factory->createLock('s', 100)];
    same([true, false], [$lock->acquire(), $other->acquire()], "$kind: acquire()");
    same([true, false], [$lock->isAcquired(), $other->isAcquired()], "$kind: isAcquired()");
    $lock->refresh(1000);
    within(500, $lock->getRemainingLifetime(), 1000, "$kind: getRemainingLifetime() after refresh()");
    $lock->release();
    same(true, $other->acquire(true), "$kind: acquire(true) after release()");
    $other->release();
    $key = new Key('k');
    $store->save($key);
    $copy = unserialize(serialize($key));
    same([true, false], [$store->exists($copy), $store->exists($key)], "$kind: a Key that was serialized");
    $fence = $store->fencingToken($copy);
    $store->exists($copy);
    holds($store->fencingToken($copy) > $fence, "$kind: fencingToken() rises");
    $store->delete($copy);

    $locks = new LockProvider($manager());
    [$lock, $other] = [$locks->lock('l', 100), $locks->lock('l', 100)];
    same([true, false], [$lock->get(), $other->get()], "$kind: get()");
    fails(LockTimeoutException::class, '*', fn () => $other->block(0.1), "$kind: block()");
    same(true, $locks->restoreLock('l', $lock->owner())->release(), "$kind: restoreLock()");
    same('done', $locks->lock('c')->get(fn () => $manager()->isLocked('c') ? 'done' : 'not locked'), "$kind: a callback");
    same(false, $manager()->isLocked('c'), "$kind: after the callback");

    // The frameworks' own times exceed this guard: such leases are renewed until their release.
    $short = new DistributedLock($server->dsn('guard=40'));
    $factory = new LockFactory(new DlockStore($short));
    [$lock, $other] = [$factory->createLock('g'), $factory->createLock('g')];
    same([true, false], [$lock->acquire(), $other->acquire()], "$kind: 300 s");
    $lock->refresh(600);
    same([true, false], [$lock->isAcquired(), $lock->isExpired()], "$kind: refresh() for 600 s");
    $lock->release();
    same(false, $short->isLocked('g'), "$kind: release() of 300 s");
    foreach ([0, 300] as $seconds) {
        $lock = (new LockProvider($short))->lock('g', $seconds);
        same([true, true], [$lock->get(), $short->isLocked('g')], "$kind: $seconds seconds");
        holds($lock->fencingToken() > 0, "$kind: fencingToken() of $seconds seconds");
        same([true, false], [$lock->release(), $short->isLocked('g')], "$kind: release() of $seconds seconds");
    }
}
echo "done\n";
?>
--EXPECT--
done
