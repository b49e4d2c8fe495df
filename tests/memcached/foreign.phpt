--TEST--
memcached: clients that do not know dlock compete for the same key by add and delete
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_memcached();
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/memcached.inc';

use Dlock\LeaseLostException;

$server = new PrivateMemcached();
$raw = $server->raw();
$one = new DistributedLock($server->dsn());

// One client at a time holds the key, with dlock or without.
$raw->add('Lock:r', 'theirs', 100);
same([false, null, true, false, false], [$one->lock('r', 0), $one->tryAcquire('r', 0.1), $one->isLocked('r'), $one->isLocking('r'), $one->release('r')], 'held by a client of another kind');
same('theirs', $raw->get('Lock:r'), 'its value');
$raw->delete('Lock:r');
$lease = $one->acquire('r', 0);
same([false, $lease->token], [$raw->add('Lock:r', 'theirs', 100), $raw->get('Lock:r')], 'held by dlock');
same([true, true], [$lease->release(), $raw->add('Lock:r', 'theirs', 1)], 'after release()');
same(true, $one->lock('r', 60), 'at the end of its expiry');

// dlock deletes no key that it does not hold.
$raw->delete('Lock:r');
$raw->add('Lock:r', 'theirs', 100);
same([false, 'theirs'], [$one->release('r'), $raw->get('Lock:r')], 'release() of what somebody else has by then');

// A value without end, a long one, and an empty one are held by another client.
foreach (['without end' => ['x', 0], 'long' => [str_repeat('x', 500_000), 100], 'empty' => ['', 100], 'END' => ["END\r\nVA 2 c1", 100]] as $what => [$value, $seconds]) {
    $raw->set('Lock:odd', $value, $seconds);
    same([false, true, false], [$one->lock('odd', 0), $one->isLocked('odd'), $one->isLocking('odd')], "a value that is $what");
    $raw->delete('Lock:odd');
    same(true, $one->lock('odd', 0), "after a value that is $what");
    $raw->set('Lock:odd', $value, $seconds);
    same([false, true], [$one->release('odd'), $raw->get('Lock:odd') === $value], "release() where the value is $what");
}

// The other client's delete takes the lock away.
$lease = $one->acquire('s', 0, 100);
same([true, true], [$raw->delete('Lock:s'), $raw->add('Lock:s', 'theirs', 100)], 'it takes the lock away');
fails(LeaseLostException::class, 'The lock "s" was lost*', $lease->refresh(...));
same('theirs', $raw->get('Lock:s'), 'its value');
echo "done\n";
?>
--EXPECT--
done
