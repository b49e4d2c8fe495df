--TEST--
Stock: each script's work is bounded, with 1,000,000 reservations that have ended, 100,000 orders that wait and 100,000 that are sold
--SKIPIF--
<?php
require __DIR__ . '/../inc/skipif.inc';
?>
--FILE--
<?php
declare(strict_types=1);
require __DIR__ . '/../inc/servers.inc';
require __DIR__ . '/../inc/api.inc';
require __DIR__ . '/../inc/lua.inc';

// A script's work is counted in commands, in swept reservations and in waiters removed from the queue. Its processor
// time is compared with that of a stock a fiftieth as large. So nothing depends on the machine's speed and load. The
// time itself is printed.
const LARGE = 1_000_000;
const SMALL = LARGE / 50;
const COMMANDS = 500; // of one script: it looks at 16 waiters twice, four commands for each, and at 250 orders of a list
const SWEPT = 60; // reservations that have ended: 50, and the order that the script is about
const TAKEN_OUT = 50; // waiters that are dead, or are told: 16 three times
const TIMES = 10;
const SLACK_US = 2000;
const ROUNDS = 5;

$server = redis_private();
$redis = $server->raw();

/**
 * A tenth as many are sold, and wait, as have ended; ann has 500 of each. The waiters are dead, or want more than there
 * will be.
 */
function fill(RedisRaw $redis, string $key, int $ended, bool $dead): void
{
    $redis->cmd('EVAL', script('stock_restock'), 1, $key, 3 * $ended, 'opening', '0');
    $text = <<<'LUA'
        local from, ended, dead, us = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == '1', redis.call('TIME')
        local now = us[1] * 1000
        for i = from, from + 999 do
            local buyer = i % (ended / 500) == 0 and 'ann' or 'buyer' .. i
            redis.call('ZADD', KEYS[1], now - 1e6 + i / 1000, 'h' .. buyer .. '/ended' .. i, 1, 'b' .. buyer)
            if i % 10 == 0 then
                redis.call('ZADD', KEYS[1], 1e13 + now - 1e6 + i, 'h' .. buyer .. '/sold' .. i)
                local waiter = string.format('%d   other/waits%d inbox%d', dead and 1 or 3 * ended, i, i)
                redis.call('ZADD', KEYS[1], 1e15 + i, 'q' .. waiter, dead and -1000 or -(now + 9e5) * 1000, 's' .. waiter, 1e14 + (dead and 1 or 3 * ended), 'u' .. waiter)
            end
        end
        redis.call('ZADD', KEYS[1], 1000, 'bann', -1, '$queue', -(now - 1e6), '$next', ended / 10, '$sold', 2 * ended - ended / 10, '$free', -now * 1000, '$fence')
        LUA;
    $sha1 = $redis->cmd('SCRIPT', 'LOAD', $text);
    for ($i = 0; $i < $ended; $i += 1000) {
        $redis->cmd('EVALSHA', $sha1, 1, $key, $i, $ended, (int) $dead);
    }
}

/**
 * Reservations that have ended and are still to be swept, and requests that wait.
 * @param list<string> $keys
 * @return array{int, int}
 */
function ended_and_waiting(RedisRaw $redis, array $keys): array
{
    $count = fn (string $from, string $to) => array_sum(array_map(fn (string $key) => $redis->cmd('ZCOUNT', $key, $from, "($to"), $keys));
    return [$count('2e13', '3e13'), $count('1e15', '5e15')];
}

/**
 * Processor time of the server's main thread, in us. It waits until the server is idle, because the kernel adds it up
 * then.
 */
function cpu_us(PrivateServer $server): int
{
    $pid = $server->pid();
    wait_for(fn () => preg_match('/\) S /', (string) file_get_contents("/proc/$pid/stat")));
    return intdiv((int) file_get_contents("/proc/$pid/task/$pid/schedstat"), 1000);
}

/**
 * @return array{int, int, int, int} one script's commands, swept reservations, waiters removed from the queue, and time
 *     in us
 */
function measured(PrivateServer $server, RedisRaw $redis, string $name, array $keys, array $args): array
{
    $before = ended_and_waiting($redis, $keys);
    $sha1 = $redis->cmd('SCRIPT', 'LOAD', script("stock_$name"));
    $redis->cmd('CONFIG', 'RESETSTAT');
    $time = cpu_us($server);
    $reply = $redis->cmd('EVALSHA', $sha1, count($keys), ...$keys, ...$args);
    $time = cpu_us($server) - $time;
    getenv('DLOCK_STOCK_TRACE') && fprintf(STDERR, "%s %s %s: %s\n", $name, implode(' ', $keys), implode(' ', $args), json_encode($reply));
    preg_match_all('/^cmdstat_(\w+)\S*:calls=(\d+)/m', $redis->cmd('INFO', 'commandstats'), $found, PREG_SET_ORDER);
    $commands = 0;
    foreach ($found as [, $command, $calls]) {
        $commands += in_array($command, ['evalsha', 'config', 'info'], true) ? 0 : (int) $calls;
    }
    $after = ended_and_waiting($redis, $keys);
    return [$commands, $after[0] - $before[0], $before[1] - $after[1], $time];
}

/**
 * Each script in each of its ways: [name, number of stocks, arguments].
 * @return array<string, array{string, int, list<string|int>}>
 */
function requests(int $i, int $ended): array
{
    $sold = 9010 + 40 * $i; // an order of another buyer than ann
    return [
        'reserve' => ['reserve', 1, ["new/$i", 1, 60_000]],
        'reserve, more than is free' => ['reserve', 1, ["big$i/1", 2 * $ended + 1, 60_000]],
        'reserve, above the limit' => ['reserve', 1, ["ann/new$i", 1, 60_000, 500]],
        'reserve, waiting' => ['reserve', 1, ["new$i/2", 1, 60_000, '', "inbox$i-", 0, 1, '']],
        'leave' => ['leave', 1, ["new$i/2", '', "inbox$i-", '', '', 1]],
        'reserve of several' => ['basket', 2, ["new/several$i", 60_000, '', '', 0, 1, '', '4711', 1, 1]],
        'reserve of several, more than is free' => ['basket', 2, ["big$i/3", 60_000, '', '', 0, 1, '', '4711', 1, 2 * $ended + 1]],
        'reserve of several, waiting' => ['basket', 2, ["new/waits$i", 60_000, '', "inbox$i-", 0, 1, '', '4711', 2 * $ended + 1, 2 * $ended + 1]],
        'leave of several' => ['leave', 2, ["new/waits$i", '', "inbox$i-", '', 'm', 2 * $ended + 1, 2 * $ended + 1]],
        'extend' => ['extend', 1, ["new/$i", '', '', 120_000]],
        'change' => ['change', 1, ["new/$i", '', '', '', 2]],
        'change, more than is free' => ['change', 1, ["new/$i", '', '', '', 2 * $ended + 3]],
        'confirm' => ['confirm', 1, ["new/$i", '', '', '']],
        'confirm of several' => ['confirm', 2, ["new/several$i", '', '4711', '']],
        'confirm, late' => ['confirm', 1, ['buyer' . ($ended - 7 - $i) . '/ended' . ($ended - 7 - $i), '', '', 1]],
        'cancel' => ['cancel', 1, ['buyer' . ($ended - 77 - $i) . '/ended' . ($ended - 77 - $i), '', '']],
        'cancel of several' => ['cancel', 2, ["new/cancelled$i", '', '4711']],
        'refund' => ['refund', 1, ["new/$i", '', '', '1', '', '']],
        'refund of a part' => ['refund', 1, ["buyer$sold/sold$sold", '', '', '0', 1, "part$i"]],
        'restock' => ['restock', 1, [1, "more$i", '0']],
        'restock, less' => ['restock', 1, [-1, "less$i", '0']],
        'restock, less than there are' => ['restock', 1, [-3 * $ended, "none$i", '0']],
        'counts' => ['counts', 2, []],
        'close' => ['sale', 1, [1]],
        'open' => ['sale', 1, [0]],
        'status' => ['status', 2, ["new/several$i"]],
        'orders' => ['orders', 1, ['1e11', '5e13', '', '', 250]],
        'orders of one buyer' => ['orders', 1, ['1e13', '5e13', '', 'ann', 250]],
    ];
}

foreach (['wait for more than there are' => false, 'are dead' => true] as $how => $dead) {
    $redis->cmd('FLUSHALL', 'ASYNC'); // on a slow machine it takes longer than a reply may
    $sizes = ['small' => (int) SMALL, 'large' => LARGE];
    foreach ($sizes as $size => $ended) {
        fill($redis, "{{$size}}a", $ended, $dead);
        fill($redis, "{{$size}}b", $ended, $dead);
    }
    $least = $most = [];
    for ($i = 0; $i < ROUNDS; $i++) {
        foreach ($sizes as $size => $ended) {
            foreach (requests($i, $ended) as $what => [$name, $stocks, $args]) {
                [$commands, $swept, $taken_out, $us] = measured($server, $redis, $name, array_slice(["{{$size}}a", "{{$size}}b"], 0, $stocks), $args);
                $least[$size][$what] = min($least[$size][$what] ?? PHP_INT_MAX, $us);
                $most[$what] = max($most[$what] ?? 0, $commands);
                holds($swept <= SWEPT && $taken_out <= TAKEN_OUT, "$what: what one script sweeps and takes out", $swept, $taken_out);
            }
        }
    }
    foreach ($most as $what => $commands) {
        holds($commands <= COMMANDS, "$what: commands of one script", $commands);
        holds($least['large'][$what] <= TIMES * $least['small'][$what] + SLACK_US, "$what: its time grows with the stock", $least['large'][$what], $least['small'][$what]);
        getenv('DLOCK_STOCK_TRACE') && fprintf(STDERR, "%-40s %4d commands, %5d us; small %5d us\n", $what, $commands, $least['large'][$what], $least['small'][$what]);
    }
    arsort($least['large']);
    printf("Orders %s: at most %d commands, %.2f ms (%s)\n", $how, max($most), max($least['large']) / 1000, array_key_first($least['large']));
}
echo "done\n";
?>
--EXPECTF--
Orders wait for more than there are: at most %d commands, %f ms (%s)
Orders are dead: at most %d commands, %f ms (%s)
done
