--TEST--
Symfony Lock works on ReadWriteLock: readers share, a writer excludes, both wait, refresh, expire and pass their Key on; promotion and demotion
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
skip_unless_integration('symfony/ReadWriteStore.php', 'php-symfony-lock', '/usr/share/php/Symfony/Component/Lock/autoload.php');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/integrations.inc';
load_integrations();

use Dlock\ReadWriteLock;
use Dlock\Symfony\ReadWriteStore;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\LockFactory;

$locks = fn () => new ReadWriteLock(redis_server());
$store = new ReadWriteStore($locks());
$factory = new LockFactory($store);
$resource = unique('rw');
$queue = fn () => redis_raw()->cmd('ZSCORE', "ReadWriteLock:$resource", '$queue') !== null;

// Readers share, a writer excludes.
[$reader, $second, $writer] = [$factory->createLock($resource, 100), $factory->createLock($resource, 100), $factory->createLock($resource, 100)];
same([true, true, false], [$reader->acquireRead(), $second->acquireRead(), $writer->acquire()], 'two readers, then a writer');
same([true, true, false], [$reader->isAcquired(), $second->isAcquired(), $writer->isAcquired()], 'isAcquired() of them');
same(true, $reader->acquireRead(), 'acquireRead() of what is read by this very lock');
within(50, $reader->getRemainingLifetime(), 100, 'getRemainingLifetime()');
$reader->refresh(1000);
within(500, $reader->getRemainingLifetime(), 1000, 'getRemainingLifetime() after refresh()');
$reader->release();
same([false, false, true], [$writer->acquire(), $reader->isAcquired(), $second->isAcquired()], 'a writer beside one reader');
$second->release();
same([true, false, false], [$writer->acquire(), $reader->acquireRead(), $second->acquire()], 'a writer, then another one and a reader');

// A writer is demoted: other clients read beside it, and none writes. Then it is promoted again.
same([true, true, false], [$writer->acquireRead(), $reader->acquireRead(), $second->acquire()], 'acquireRead() of a writer');
same([false, true, true], [$writer->acquire(), $writer->isAcquired(), $reader->isAcquired()], 'acquire() beside another reader');
$reader->release();
same([true, true, false, false], [$writer->acquire(), $writer->acquire(), $reader->acquireRead(), $second->acquire()], 'promoted again');
$writer->release();

// A reader is promoted if it is the only one, otherwise it continues to read. Then it is demoted.
same([true, true, false, true], [$reader->acquireRead(), $second->acquireRead(), $reader->acquire(), $reader->isAcquired()], 'acquire() beside another reader');
$second->release();
same([true, false, false], [$reader->acquire(), $second->acquireRead(), $writer->acquire()], 'acquire() of the only reader');
same([true, true, true, false], [$reader->acquireRead(), $reader->acquireRead(), $second->acquireRead(), $writer->acquire()], 'and demoted');
$second->release();
$reader->release();
same(true, $writer->acquire(), 'nothing is left of it');
$writer->release();

// acquire(true) waits for the other reader. If two readers wait in this way, the second is refused.
$reader->acquireRead();
$child = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
    $lock = (new LockFactory(new ReadWriteStore($locks())))->createLock($resource, 100);
    $lock->acquireRead();
    $say('reads');
    $lock->acquire(true);
    $say('writes');
    $hear();
    $lock->release();
});
same('reads', $child->hear(), 'two read');
wait_for($queue, 60, 'one that waits to be promoted');
fails(LockConflictedException::class, '*', fn () => $reader->acquire(true), 'a second one');
same(true, $reader->isAcquired(), 'which goes on reading');
$reader->release();
same('writes', $child->hear(), 'the first is promoted');
$child->say('release');
$child->result();

// Fencing tokens.
$key = new Key($resource);
$store->saveRead($key);
$token = $store->fencingToken($key);
$store->delete($key);
fails(LockConflictedException::class, '*', fn () => $store->fencingToken($key), 'fencingToken() of what was released');
$store->save($key);
holds($store->fencingToken($key) > $token, 'fencing tokens rise from readers to writers', $token, $store->fencingToken($key));
$store->delete($key);

// A release serves waiters: the last reader's a writer, the writer's the readers.
$reader->acquireRead();
$child = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
    $lock = (new LockFactory(new ReadWriteStore($locks())))->createLock($resource, 100);
    $lock->acquire(true);
    $say('writes');
    $hear();
    $lock->release();
});
wait_for($queue, 60, 'a writer that waits');
same(false, $second->acquireRead(), 'acquireRead() while a writer waits');
$reader->release();
same('writes', $child->hear(), 'a writer after the reader');
$readers = fork_child(function (callable $say, callable $hear) use ($locks, $resource) {
    $lock = (new LockFactory(new ReadWriteStore($locks())))->createLock($resource, 100);
    $lock->acquireRead(true);
    $say('reads');
    $hear();
    $lock->release();
});
wait_for($queue, 60, 'a reader that waits');
$child->say('release');
same('reads', $readers->hear(), 'a reader after the writer');
same(true, $second->acquireRead(), 'another one beside it');
$second->release();
$hurried = (new LockFactory(new ReadWriteStore($locks(), 100, 0.2)))->createLock($resource);
fails(LockConflictedException::class, '*', fn () => $hurried->acquire(true), 'acquire(true) with a timeout');
$readers->say('release');
[$child->result(), $readers->result()];

// Leases expire, and Keys pass to other processes.
$short = $factory->createLock($resource, 2);
same(true, $short->acquireRead(), 'acquireRead() for 2 s');
wait_for(fn () => $writer->acquire(), 60, 'the end of the lease');
same([true, false], [$short->isExpired(), $short->isAcquired()], 'after the lease');
fails(LockConflictedException::class, '*', fn () => $short->refresh(), 'refresh() after the lease');
$writer->release();
foreach (['acquireRead' => [true, false], 'acquire' => [false, false]] as $method => $others) {
    $serialized = fork_child(function () use ($locks, $resource, $method) {
        $lock = (new LockFactory(new ReadWriteStore($locks())))->createLockFromKey($key = new Key($resource), 100, false);
        return $lock->$method() ? serialize($key) : '';
    })->result();
    $lock = $factory->createLockFromKey(unserialize($serialized), 100, false);
    same(true, $lock->isAcquired(), "$method() in another process, isAcquired() here");
    same($others, [$reader->acquireRead(), $writer->acquire()], "$method() in another process, others");
    $reader->release();
    $lock->release();
    same(true, $writer->acquire(), "$method() in another process, released here");
    $writer->release();
}
echo "done\n";
?>
--EXPECT--
done
