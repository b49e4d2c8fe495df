--TEST--
The scripts on permits work on a server that refuses TIME, PUBLISH or PUBSUB, has no memory left, or is in another century
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/handover.inc';
require __DIR__ . '/../inc/clocks.inc';

$server = new PrivateRedis();
$admin = $server->raw();
$inbox = $server->raw();
$inbox->cmd('SUBSCRIBE', 'inbox');
$as = function (string ...$rules) use ($server, $admin): Closure {
    $admin->cmd('FLUSHALL');
    $admin->cmd('ACL', 'SETUSER', 'limited', 'reset', 'on', '>secret', '~*', '&*', '+@all', ...$rules);
    $redis = new RedisRaw($server->address(), 'secret', 'limited');
    return fn (string $script, string $key, string|int ...$args) => $redis->cmd('EVAL', script(str_contains($script, '_') ? $script : "permits_$script"), 1, $key, ...$args);
};

$call = $as('-time');
$reply = $call('acquire', 'pool', 'a', 1, 1, 60_000, '', 0, 0);
same([1, 1, 60_000], [$reply[0], $reply[2], $reply[3]], 'without TIME: a new pool');
holds(abs(intdiv($reply[1], 1_000_000) - (int) $admin->cmd('TIME')[0]) < 5, 'its fencing token is the time', $reply[1]);
same(1, $call('release', 'pool', 'a'), 'released');
same([2, 2], $call('stock_restock', 'stock', 2, 'first', 0), 'a stock');
same(1, $call('stock_reserve', 'stock', 'ann/1', 1, 60_000, '')[0], 'reserved');
same(-1, $admin->cmd('PTTL', 'stock'), 'which has no end');
same(1, $call('stock_confirm', 'stock', 'ann/1', 0, '', '')[0], 'bought');
same([[1, 1, 0, 1, 0, 0]], $call('stock_counts', 'stock'), 'counted');
same(-1, $admin->cmd('PTTL', 'stock'), 'which still has no end');

$queue = function (Closure $call, string $id, int $permits) {
    $reply = $call('acquire', 'pool', $id, $permits, 3, 60_000, 'inbox', 0, 1);
    return $reply[0] === 0 ? $reply[2] : $reply;
};
$call = $as('-publish');
$call('acquire', 'pool', 'a', 3, 3, 60_000, '', 0, 0);
same([0, 1], [$queue($call, 'b', 2), $queue($call, 'c', 2)], 'without PUBLISH: two wait');
same(1, $call('release', 'pool', 'a'), 'nobody is told');
same(0, $call('acquire', 'pool', 'd', 1, 3, 60_000, '', 0, 0)[0], 'nobody overtakes');
same(1, $queue($call, 'c', 2), 'nor those that wait behind');
same(1, $queue($call, 'b', 2)[0], 'the first one finds its turn');

$call = $as('-pubsub');
$call('acquire', 'pool', 'a', 2, 3, 60_000, '', 0, 0);
same([0, 1], [$queue($call, 'b', 2), $queue($call, 'c', 1)], 'without PUBSUB: the first one is waited for');

$call = $as();
$call('acquire', 'pool', 'a', 3, 3, 60_000, '', 0, 0);
$queue($call, 'b', 2);
$queue($call, 'c', 1);
$call('stock_restock', 'stock', 3, 'first', 0);
$call('stock_reserve', 'stock', 'ann/1', 1, 60_000, '');
$call('stock_reserve', 'stock', 'ann/2', 1, 60_000, '');
$call('stock_reserve', 'stock', 'ann/3', 1, 1, '');
pause(0.01);
$admin->cmd('CONFIG', 'SET', 'maxmemory', 1);
same(1, $call('renew', 'pool', 'a', 70_000, 1), 'without memory: renewed');
same(2, $call('release', 'pool', 'a'), 'handed over');
same(['b', 'c'], [strstr($inbox->reply()[2], ' ', true), strstr($inbox->reply()[2], ' ', true)], 'to both');
same(1, $call('stock_confirm', 'stock', 'ann/1', 0, '', '')[0], 'bought');
same(3, $call('stock_confirm', 'stock', 'ann/3', 0, '', '')[0], 'bought late');
same(1, $call('stock_extend', 'stock', 'ann/2', 0, '', 70_000)[0], 'extended');
same(1, $call('stock_cancel', 'stock', 'ann/2', 0, '')[0], 'cancelled');
same(1, $call('release', 'pool', 'b'), 'released');

foreach (['1990' => false, '2002' => true, '2127' => true, '2130' => false] as $year => $works) {
    $elsewhere = redis_with_clock(((int) $year - 2026) * 31_556_952.0);
    try {
        $reply = $elsewhere->raw()->cmd('EVAL', script('permits_acquire'), 1, 'pool', 'a', 1, 1, 60_000, '', 0, 0);
        same($works, $reply[0] === 1, "a clock in $year");
    } catch (RuntimeException $e) {
        same([$works, true], [false, str_contains($e->getMessage(), 'between the years 2001 and 2128')], "a clock in $year: " . $e->getMessage());
    }
}
?>
done
--EXPECT--
done
