--TEST--
Permits of dead holders are swept even if no client needs the room; a client with a higher capacity does not wait for waiters with a lower one
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
skip_unless_functions('pcntl_fork');
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/permits.inc';

use Dlock\ReadWriteLock;
use Dlock\Semaphore;

// Dead readers: 1,000 whose leases ended in the last minutes, and one whose lease has just ended, which may still renew
// it.
$resource = unique('dead');
$key = "ReadWriteLock:$resource";
$reads = (new ReadWriteLock(redis_server()))->readLock();
$held = $reads->acquire($resource, ttl: 1000);
redis_raw()->cmd('EVAL', <<<'LUA'
    local now = redis.call('TIME')[1] * 1000
    for i = 1, 1000 do
        redis.call('ZADD', KEYS[1], now - 5000 - i, 'hdead' .. i)
    end
    redis.call('ZADD', KEYS[1], now - 1, 'hlate')
    redis.call('ZINCRBY', KEYS[1], 1001, '$used')
    LUA, 1, $key);
$acquire = function () use ($key, $resource, $reads): void {
    redis_raw()->cmd('EVAL', 'local t = redis.call("TIME")[1] * 1000 redis.call("ZADD", KEYS[1], "XX", t - 1, "hlate")', 1, $key); // it has just ended
    $reads->acquire($resource, ttl: 1000)->release();
};
for ($i = 0; $i < 1000 && redis_raw()->cmd('ZSCORE', $key, 'hdead1') !== null; $i++) {
    $acquire();
}
same(true, $i < 1000, 'they are swept by those that come');
for ($i = 0; $i < 500; $i++) {
    $acquire();
}
$left = redis_raw()->cmd('ZRANGE', $key, 0, -1);
holds(count($left) < 10 && preg_grep('/dead/', $left) === [], 'entries that are left', $left);
same([true, '2'], [$held->isHeld(), redis_raw()->cmd('ZSCORE', $key, '$used')], 'who holds, and who may renew yet, has its own');
redis_raw()->cmd('ZREM', $key, 'hlate');
redis_raw()->cmd('ZADD', $key, 1, '$used');
same(true, $held->release(), 'and gives it back');

// A waiter with a capacity of 3, of which 3 are in use, is passed by clients with a capacity of 10, and by no other.
$resource = unique('lower');
[$small, $large] = [new Semaphore(3, redis_server()), new Semaphore(10, redis_server())];
$held = $large->acquire($resource, 3, ttl: 1000);
$keeper = keep_alive([redis_addresses()[0]], "Semaphore:$resource");
$waiter = fork_child(fn () => (new Semaphore(3, redis_server()))->acquire($resource, 1, 60, 1000)->release());
at_end($waiter->kill(...));
wait_for(fn () => counts_of("Semaphore:$resource", 3)['waiting'] === 1, 60, 'the waiter');
same(true, $large->tryAcquire($resource, 2, ttl: 1000)?->release(), 'one that does not wait');
same(true, $large->acquire($resource, 2, 60, 1000)->release(), 'one that would wait');
same(null, $small->tryAcquire($resource), 'one that asks with the same capacity');
$second = $large->acquire($resource, 7, ttl: 1000);
$behind = fork_child(fn () => (new Semaphore(10, redis_server()))->acquire($resource, 2, 60, 1000)->release());
at_end($behind->kill(...));
wait_for(fn () => counts_of("Semaphore:$resource", 3)['waiting'] === 2, 60, 'one behind it');
same(true, $second->release(), 'seven are given back');
same(true, $behind->result(), 'they are enough for the one behind it');
same(1, counts_of("Semaphore:$resource", 3)['waiting'], 'the first one waits on');
same([true, true], [$held->release(), $waiter->result()], 'until its own are back');
echo "done\n";
?>
--EXPECT--
done
