--TEST--
Symfony's and Laravel's locks behind Sentinels, with the frameworks' own times (300 s and more), are renewed, released, and end with the process
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_integration('symfony/DlockStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
skip_unless_integration('laravel/Lock.php', 'php-illuminate-cache', '/usr/share/php/Illuminate/Cache/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
require __DIR__ . '/../inc/replicated.inc';
load_integrations();

use Dlock\Laravel\LockProvider;
use Dlock\Symfony\DlockStore;
use Dlock\Symfony\SemaphoreStore;
use Symfony\Component\Lock\Exception\LockAcquiringException;
use Symfony\Component\Lock\Exception\UnserializableKeyException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Semaphore\SemaphoreFactory;

$set = new SentinelSet();
$dsn = $set->dsn(); // and the default guard, 10 s
$locks = new DistributedLock($dsn);
$locks->acquire('ready', timeout: 60.0)->release();

// ---- Symfony: createLock() has 300 s by default ----
$factory = new LockFactory(new DlockStore($locks));
foreach ([300.0, 3600.0, null] as $ttl) {
    $what = "Symfony, $ttl s";
    [$lock, $other] = [$factory->createLock('s', $ttl), $factory->createLock('s', $ttl)];
    same([true, false], [$lock->acquire(), $other->acquire()], "$what: acquire()");
    $lock->refresh($ttl ?? 300);
    $lock->refresh(600);
    same([true, true, false, false], [$lock->isAcquired(), $lock->acquire(), $lock->isExpired(), $other->isAcquired()], "$what: held");
    $lock->release();
    same([true, true], [$other->acquire(true), $other->isAcquired()], "$what: acquire(true)");
    unset($other);
    same(false, $locks->isLocked('s'), "$what: the end of the object");
}
$store = new DlockStore($locks);
$store->save($key = new Key('k'));
holds($store->fencingToken($key) > 0, 'Symfony: fencingToken()');
fails(UnserializableKeyException::class, '*', fn () => serialize($key), 'Symfony: such a Key');
$store->delete($key);
$short = new DlockStore($locks, initialTtl: 5.0);
$short->save($key = new Key('k'));
same(true, $short->exists(unserialize(serialize($key))), 'Symfony: an initialTtl below the guard');
fails(LockAcquiringException::class, '*', fn () => (new LockFactory($short))->createLock('l', 300)->acquire(), 'Symfony: a TTL above it then');

$semaphores = new SemaphoreFactory(new SemaphoreStore($dsn));
[$pdf, $other] = [$semaphores->createSemaphore('pdf', 1), $semaphores->createSemaphore('pdf', 1)]; // for 300 s
same([true, false, true], [$pdf->acquire(), $other->acquire(), $pdf->isAcquired()], 'Symfony Semaphore: acquire()');
$pdf->refresh();
$pdf->release();
same(true, $other->acquire(), 'Symfony Semaphore: release()');
$other->release();

// ---- Laravel ----
$laravel = new LockProvider($locks);
foreach ([0, 300, 3600] as $seconds) {
    $what = "Laravel, $seconds s";
    same([true, false], [$laravel->lock('l', $seconds)->get(), $laravel->lock('l', $seconds)->get()], "$what: get(), and the object is gone");
    pause(0.1);
    same(true, $locks->isLocked('l'), "$what: still held");
    $held = (new ReflectionProperty($laravel, 'held'))->getValue($laravel);
    [[$lease]] = array_values((new ReflectionProperty($held, 'leases'))->getValue($held));
    same(true, $laravel->restoreLock('l', $held->owner($lease))->release(), "$what: restoreLock() in this process");
    $lock = $laravel->lock('l', $seconds);
    same(true, $lock->get(), "$what: get() again");
    holds($lock->fencingToken() > 0, "$what: fencingToken()");
    same([true, false], [$lock->release(), $locks->isLocked('l')], "$what: release()");
    same('done', $laravel->lock('l', $seconds)->block(5, fn () => 'done'), "$what: a callback");
    same(false, $locks->isLocked('l'), "$what: after the callback");
}
$lock = $laravel->lock('renewed', 300);
$lock->get();
$renewals = Dlock\stats()['renewals'];
wait_for(fn () => Dlock\stats()['renewals'] > $renewals, 60, 'a renewal');
holds($lock->fencingToken() > 0, 'renewed');
$lock->release();

// ---- a process ends without releasing ----
$child = fork_child(function () use ($dsn) {
    (new LockProvider(new DistributedLock($dsn)))->lock('left', 300)->get();
    set_error_handler(fn ($code, $message) => print "$message\n");
    return true;
});
same(true, $child->result(), 'a child');
wait_for(fn () => !$locks->isLocked('left'), 60, 'its lock to be free');
echo "done\n";
?>
--EXPECTF--
The lock "left" ends with this process, before its seconds are over: %s
done
