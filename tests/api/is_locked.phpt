--TEST--
isLocked() asks the server whether any client holds the lock
--SKIPIF--
<?php require __DIR__ . '/../inc/skipif.inc'; ?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';

// One server.
$lock = new DistributedLock(redis_server());
$resource = unique();
same(false, $lock->isLocked($resource), 'before');
$lock->lock($resource);
same(true, $lock->isLocked($resource), 'held by this object');
same(true, (new DistributedLock(redis_server()))->isLocked($resource), 'asked by another object');
same(false, (new DistributedLock(redis_server(), 'other:'))->isLocked($resource), 'with another prefix');
same(false, (new DistributedLock(redis_server(1)))->isLocked($resource), 'on another server');
same(true, $lock->isLocking($resource), 'still held by this object');
$lock->release($resource);
same(false, $lock->isLocked($resource), 'after');
redis_raw()->cmd('SET', "Lock:$resource", 'foreign', 'PX', 50_000);
same(true, $lock->isLocked($resource), 'held by a client of another kind');
redis_raw()->cmd('DEL', "Lock:$resource");

// A majority must have the key of one and the same holder; a majority with any keys is not enough.
$red = new RedLock(redis_servers(3));
$resource = unique('red');
$set = fn (int $server, string $value) => redis_raw($server)->cmd('SET', $resource, $value, 'PX', 50_000);
same(false, $red->isLocked($resource), 'RedLock: before');
$held = $red->lock($resource);
same(true, $red->isLocked($resource), 'RedLock: held');
$red->unlock($held);
same(false, $red->isLocked($resource), 'RedLock: after');
$set(0, 'a');
same(false, $red->isLocked($resource), 'RedLock: a key on one server');
$set(1, 'a');
same(true, $red->isLocked($resource), 'RedLock: the same on two servers');
$set(1, 'b');
$set(2, 'c');
same(false, $red->isLocked($resource), 'RedLock: three holders');
$set(2, 'b');
same(true, $red->isLocked($resource), 'RedLock: two holders, one of two servers');
for ($i = 0; $i < 3; $i++) {
    redis_raw($i)->cmd('DEL', $resource);
}

// If no quorum answers, isLocked() throws.
$dead = '127.0.0.1:' . closed_port();
fails(Dlock\ConnectionException::class, "Redis at $dead: Connection refused", fn () => (new DistributedLock("redis://$dead"))->isLocked('x'));
$red = new RedLock([redis_server(), "redis://$dead", 'redis://127.0.0.1:' . closed_port()]);
fails(Dlock\QuorumException::class, '* of 3 servers failed (quorum 2)*', fn () => $red->isLocked(unique('nobody')));
$red = new RedLock([redis_server(), redis_server(1), "redis://$dead"]);
same(false, $red->isLocked(unique('nobody')), 'RedLock: one of three is dead');
echo "done\n";
?>
--EXPECT--
done
