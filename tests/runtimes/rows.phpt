--TEST--
Runtimes: what happens to a wait, and who owns a lock, row by row: Redis, RedLock, permits, a stock, ZooKeeper, memcached, memory
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_zookeeper();
skip_unless_functions('pcntl_fork', 'posix_kill');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/wait_rows.inc';

$relays = new Relays([...array_slice(redis_addresses(), 0, 3), explode(',', zk_hosts())[0], ($memcached = new PrivateMemcached())->address()]);
$cut = fn (int ...$links) => fn () => array_map(fn (int $link) => $relays->order($link, ['cut' => true]), $links);
$dsn = fn (int $link) => var_export("redis://{$relays->addresses[$link]}", true);
$zk = var_export($relays->addresses[3], true);

/** A kind on Redis. */
$redis = function (string $name, string $code, int $servers, array $without = []) use ($cut): WaitKind {
    $locks = new Locks($name, array_slice(redis_addresses(), 0, $servers));
    $isFree = fn (string $resource) => $locks->waiting($resource) === 0 && array_filter($locks->raw(), fn (RedisRaw $raw) => $locks->token($raw, $resource) !== null) === [];
    return new WaitKind($name, $code, $locks->waiting(...), $isFree, $cut(...range(0, $servers - 1)),
        fn (string $resource) => array_map(fn (RedisRaw $raw) => $raw->cmd('DEL', Locks::key($resource)), $locks->raw()), $without);
};
$noNames = array_fill_keys(['by name', 'by name, and the strand ends'], 'it has no lock()');
$isFreed = fn (DistributedLock $lock) => fn (string $resource) => !$lock->isLocked($resource);
$unit = new OneUnit(redis_server(), 'nobody');
run_rows([
    $redis('DistributedLock', "new DistributedLock({$dsn(0)}, ...\$options)", 1),
    $redis('RedLock', "new RedLock([{$dsn(0)}, {$dsn(1)}, {$dsn(2)}], ...\$options + ['prefix' => 'Lock:'])", 3,
        array_fill_keys(array_keys($noNames), 'lock() returns what unlock() takes')),
    $redis('Semaphore', "new OnePermit(new Dlock\\Semaphore(1, {$dsn(0)}, ...\$options + ['prefix' => 'Lock:']))", 1, $noNames),
    $redis('ReadWriteLock', "(new Dlock\\ReadWriteLock({$dsn(0)}, ...\$options + ['prefix' => 'Lock:']))->writeLock()", 1, $noNames),
    new WaitKind('Stock', "new OneUnit({$dsn(0)}, getmypid() . '-' . uniqid())", $unit->waiting(...), fn (string $resource) => !$unit->isLocked($resource) && $unit->waiting($resource) === 0,
        $cut(0), null, $noNames + ['a loss' => 'a reservation has a time', 'a wait for itself, or for each other' => 'a buyer may wait for its own units',
        'exit' => 'reservations outlive their process', 'a fatal error' => 'the same', 'a fatal error in the waiter' => 'the same',
        'the waiter cannot wait' => 'rows of Redis']),
    new WaitKind('ZkLock', "new ZkLock($zk, ...\$options)", fn (string $resource) => max(0, count(zk_nodes(zk_raw(), $resource)) - 1),
        fn (string $resource) => zk_nodes(zk_raw(), $resource) === [], $cut(3), fn (string $resource) => zk_raw()->delete("/locks/$resource/" . zk_nodes(zk_raw(), $resource)[0]), short: []),
    new WaitKind('memcached', "new DistributedLock('memcached://{$relays->addresses[4]}', ...\$options)", null, $isFreed(new DistributedLock($memcached->dsn())), $cut(4),
        fn (string $resource) => $memcached->raw()->delete("Lock:$resource"), ['dropped with a grant' => 'it grants nothing'],
        ['ttl' => 4, 'renew' => true]),
    new WaitKind('memory', "new DistributedLock('memory://rows', ...\$options)", null, $isFreed(new DistributedLock('memory://rows')), null, null,
        array_fill_keys(['exit', 'a fatal error', 'a fatal error in the waiter', 'its connection ends', 'the waiter cannot wait', 'a loss'], 'it is of one process')),
]);
echo "done\n";
?>
--EXPECT--
done
