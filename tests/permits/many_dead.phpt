--TEST--
Permits: no script removes more than 100 dead waiters, and a living waiter behind them is still served
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
use Dlock\Stock;

/**
 * Adds waiters that have been silent for long, and others whose processes have just died: no client listens to their
 * inboxes.
 */
function add_dead(string $key, string $what, int $count, bool $phases = false, string $request = ''): void
{
    redis_raw()->cmd('EVAL', <<<'LUA'
        local now = redis.call('TIME')[1] * 1000
        redis.call('ZADD', KEYS[1], ARGV[3], '$queue', string.match(ARGV[1], ' (%d+)') or 0, '$most')
        for i = 1, tonumber(ARGV[2]) do
            local waiter = ARGV[1] .. ' dead' .. i .. ARGV[4] .. ' dlock:inbox:nobody'
            redis.call('ZADD', KEYS[1], 1000000000000000 + i, 'q' .. waiter, i % 2 == 0 and -now * 1000 or -1000, 's' .. waiter)
            if ARGV[4] ~= '' then
                redis.call('ZADD', KEYS[1], 100000000000001, 'u' .. waiter)
            end
        end
        LUA, 1, $key, $what, $count, $phases ? -2 : -1, $request);
}

function dead(string $key): int
{
    return count(preg_grep('/^q.* dead/', redis_raw()->cmd('ZRANGE', $key, 0, -1)));
}

// [key, acquires all of it, what a dead waiter wants, acquires some with a timeout]
$resource = unique('many');
$semaphore = new Semaphore(2, redis_server());
$writers = (new ReadWriteLock(redis_server()))->writeLock();
$cases = [
    'Semaphore' => ["Semaphore:$resource", fn () => $semaphore->acquire($resource, 2, 0, 1000), '1 2', fn (float $timeout) => $semaphore->tryAcquire($resource, 1, $timeout), false],
    'ReadWriteLock' => ["ReadWriteLock:$resource", fn () => $writers->acquire($resource, 0, 1000), '1 1000000000', fn (float $timeout) => $writers->tryAcquire($resource, $timeout), true],
];
foreach ($cases as $name => [$key, $take, $dead, $try, $phases]) {
    $lease = $take();
    add_dead($key, $dead, 950, $phases);
    same(950, dead($key), "$name: dead waiters");
    same(true, $lease->release(), "$name: release()");
    $left = dead($key);
    same(850, $left, "$name: after one script");
    same(null, $try(0.0), "$name: at once there is no telling who is next");
    same(750, dead($key), "$name: after another one");
    $lease = $try(60.0);
    same([true, 0], [$lease?->isHeld(), dead($key)], "$name: who waits gets it");
    same(true, $lease->release(), "$name: and releases");
}

// A stock: buyers that wait for units.
$stock = new Stock(redis_server());
$stock->restock($resource, 1);
$order = $stock->reserve($resource, 'ann', 'r1', ttl: 1000);
add_dead("Stock:$resource", '1  ', 950, request: '/r'); // a script looks at 16
same(950, dead("Stock:$resource"), 'Stock: dead waiters');
same(true, $order->cancel(), 'Stock: cancel()');
same(934, dead("Stock:$resource"), 'Stock: after one script');
$order = $stock->reserve($resource, 'ben', 'r2', timeout: 60, ttl: 1000);
same([true, 0], [$order !== null, dead("Stock:$resource")], 'Stock: who waits gets it');
echo "done\n";
?>
--EXPECT--
done
