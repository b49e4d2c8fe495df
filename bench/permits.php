<?php
/* Permits on one Redis server: a sale, what a semaphore costs the server, readers and writers. */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/lua.inc';
require_once __DIR__ . '/usage.php';
require_once __DIR__ . '/ways.php';

/** All that a sale without a stock would send to the server. */
const COUNTER = "return redis.call('DECR', KEYS[1])";

/**
 * The commands of Redisson's RPermitExpirableSemaphore, in their order, if a permit is free: a counter, and a sorted
 * set of the acquired permits. The client passes the time. There is no queue and no fencing token.
 * KEYS[1] the counter, KEYS[2] the permits by their ends; ARGV[1] how many, ARGV[2] the end, ARGV[3] the time, from
 * ARGV[4]: ids
 */
const REDISSON_ACQUIRE = <<<'LUA'
    local over = redis.call('ZRANGEBYSCORE', KEYS[2], 0, ARGV[3], 'LIMIT', 0, ARGV[1])
    if #over > 0 then
        redis.call('ZREM', KEYS[2], unpack(over))
        redis.call('INCRBY', KEYS[1], #over)
    end
    local free = redis.call('GET', KEYS[1])
    if not free or tonumber(free) < tonumber(ARGV[1]) then
        return false
    end
    redis.call('DECRBY', KEYS[1], ARGV[1])
    for i = 4, #ARGV do
        redis.call('ZADD', KEYS[2], ARGV[2], ARGV[i])
    end
    local left = redis.call('PTTL', KEYS[1])
    if left > 0 then
        redis.call('PEXPIRE', KEYS[2], left)
    end
    return 'OK'
    LUA;
/** KEYS as above, KEYS[3] the channel; ARGV[1] the id, ARGV[2] the time */
const REDISSON_RELEASE = <<<'LUA'
    local ends = redis.call('ZSCORE', KEYS[2], ARGV[1])
    if redis.call('ZREM', KEYS[2], ARGV[1]) ~= 1 then
        return 0
    end
    local free = redis.call('INCRBY', KEYS[1], 1)
    redis.call('PUBLISH', KEYS[3], free)
    return tonumber(ends) > tonumber(ARGV[2]) and 1 or 0
    LUA;

/** A name that no earlier call returned. */
function fresh(string $name): string
{
    return unique("$name-" . bin2hex(random_bytes(4)));
}

/**
 * A sale by bench/crowd.c; $ask is the script of each buyer's first request.
 * @param list<string> $more further arguments of the program
 * @return array{requests_per_s: float, server_us: float, per_core_s: float, reserved: float}
 */
function crowd(int $requests, string $key, string $ask, string ...$more): array
{
    $usage = new Usage([bench_redis()[0]]);
    $before = $usage->before(1);
    $words = [(string) getenv('DLOCK_BENCH_CROWD'), bench_redis()[0], (string) PERMITS['connections'], (string) $requests, $key, $ask, ...$more];
    exec(implode(' ', array_map(escapeshellarg(...), $words)) . ' 2>&1', $lines, $status);
    $status === 0 || throw new RuntimeException(implode("\n", $lines));
    [$seconds, $reserved] = explode(' ', $lines[0]);
    $cpu = $usage->since($before, 1)['cpu'];
    return ['requests_per_s' => $requests / $seconds, 'server_us' => $cpu / $requests, 'per_core_s' => $requests / ($cpu / 1e6), 'reserved' => (float) $reserved];
}

/**
 * A sale of a stock, by the scripts that Dlock\Stock sends. $abandoned of 100 buyers never pay; their units are
 * available again after $ttl ms.
 */
function stock_sale(RedisRaw $redis, int $requests, int $units, int $ttl, int $abandoned): array
{
    $sku = fresh('stock');
    $redis->cmd('EVAL', script('stock_restock'), 1, $sku, $units, 'opening', '0');
    [$acquire, $confirm] = array_map(fn ($name) => $redis->cmd('SCRIPT', 'LOAD', script($name)), ['stock_reserve', 'stock_confirm']);
    $figures = crowd($requests, $sku, $acquire, $confirm, (string) $ttl, (string) $abandoned);
    [[, , , $sold]] = $redis->cmd('EVAL', script('stock_counts'), 1, $sku);
    $redis->cmd('DEL', $sku);
    if ($sold > $units || $abandoned === 0 && $sold !== $units) {
        throw new RuntimeException("$sold of $units units were sold");
    }
    return ['sold' => (float) $sold] + $figures;
}

/** The same after another buyer has bought all units, as most requests of a sale find it. */
function sold_out(RedisRaw $redis, int $requests): array
{
    $sku = fresh('stock');
    $redis->cmd('EVAL', script('stock_restock'), 1, $sku, 1, 'opening', '0');
    $redis->cmd('EVAL', script('stock_reserve'), 1, $sku, 'early/order', 1, 600_000);
    $redis->cmd('EVAL', script('stock_confirm'), 1, $sku, 'early/order', '', '', '');
    [$reserve, $confirm] = array_map(fn ($name) => $redis->cmd('SCRIPT', 'LOAD', script($name)), ['stock_reserve', 'stock_confirm']);
    $figures = crowd($requests, $sku, $reserve, $confirm, '600000', '0');
    $redis->cmd('DEL', $sku);
    $figures['reserved'] === 0.0 || throw new RuntimeException('units were reserved of what is sold');
    return ['sold' => 1.0] + $figures;
}

function counter_sale(RedisRaw $redis, int $requests): array
{
    return crowd($requests, fresh('counter'), $redis->cmd('SCRIPT', 'LOAD', COUNTER));
}

/** Processes buy at the same time. Each request reads and writes the stock under a lock, or calls a Stock. */
function php_sale(string $way, int $processes, int $requests, int $units): array
{
    $sku = fresh('sale');
    $way === 'Stock' ? (new Dlock\Stock(bench_dsns()[0]))->restock($sku, $units) : phpredis()->set($sku, (string) $units);
    $each = intdiv($requests, $processes);
    $gate = hrtime(true) + 1_000_000_000; // by then, all processes are connected
    $results = fork_run($processes, function (int $process) use ($way, $sku, $each, $gate) {
        $buy = $way === 'Stock' ? stock_buyer($sku) : locked_buyer($sku);
        usleep(max(0, intdiv($gate - hrtime(true), 1000)));
        $sold = 0;
        for ($i = 0; $i < $each; $i++) {
            $sold += $buy("$process-$i") ? 1 : 0;
        }
        return [$sold, hrtime(true)];
    });
    $sold = array_sum(array_column($results, 0));
    $sold === min($units, $each * $processes) || throw new RuntimeException("$sold of $units units were sold");
    return ['requests_per_s' => $each * $processes / ((max(array_column($results, 1)) - $gate) / 1e9), 'sold' => (float) $sold];
}

function stock_buyer(string $sku): Closure
{
    $stock = new Dlock\Stock(bench_dsns()[0]);
    $stock->counts($sku);
    return fn (string $buyer) => $stock->reserve($sku, $buyer, 'order')?->confirm() ?? false;
}

function locked_buyer(string $sku): Closure
{
    $locks = new DistributedLock(bench_dsns()[0]);
    $redis = phpredis();
    $locks->synchronized(unique('warm-up'), fn () => $redis->ping());
    return fn (string $buyer) => $locks->synchronized($sku, fn () => (int) $redis->get($sku) > 0 && $redis->decr($sku) >= 0, 600);
}

// ---- a semaphore ----

/** @return array{pair_us: float} µs of the server's time for an acquire and its release, as the server counts them */
function semaphore_cost(RedisRaw $redis, string $way, int $holders, int $pairs): array
{
    $key = fresh('pool');
    [$capacity, $now] = [$holders + 10, (int) (microtime(true) * 1000)];
    $load = fn (string $text) => $redis->cmd('SCRIPT', 'LOAD', $text);
    $timeouts = "{{$key}}:timeout";
    if ($way === 'Semaphore') {
        [$acquire, $release] = [$load(script('permits_acquire')), $load(script('permits_release'))];
        $take = fn (string $id) => ['EVALSHA', $acquire, 1, $key, $id, 1, $capacity, 600_000, '', '', 0, 1];
        $give = fn (string $id) => ['EVALSHA', $release, 1, $key, $id];
    } else {
        [$acquire, $release] = [$load(REDISSON_ACQUIRE), $load(REDISSON_RELEASE)];
        $redis->cmd('SET', $key, $capacity);
        $take = fn (string $id) => ['EVALSHA', $acquire, 2, $key, $timeouts, 1, $now + 600_000, $now, $id];
        $give = fn (string $id) => ['EVALSHA', $release, 3, $key, $timeouts, "redisson_sc:{{$key}}", $id, $now];
    }
    $client = phpredis();
    $do = function (array $commands) use ($client) {
        foreach (array_chunk($commands, 1000) as $chunk) {
            $pipeline = $client->multi(Redis::PIPELINE);
            array_walk($chunk, fn (array $words) => $pipeline->rawCommand(...$words));
            !in_array(false, $pipeline->exec(), true) || throw new RuntimeException('a script has failed');
        }
    };
    $id = fn (int $i) => bin2hex(pack('J2', $i, $i * 2654435761)); // as long as a token
    $do(array_map(fn (int $i) => $take($id($i)), $holders > 0 ? range(1, $holders) : []));
    $commands = [];
    foreach (range(1_000_000, 1_000_000 + $pairs - 1) as $i) {
        array_push($commands, $take($id($i)), $give($id($i)));
    }
    $redis->cmd('CONFIG', 'RESETSTAT');
    $do($commands);
    preg_match('/^cmdstat_evalsha:calls=(\d+),usec=(\d+)/m', $redis->cmd('INFO', 'commandstats'), $found);
    (int) $found[1] === 2 * $pairs || throw new RuntimeException("$found[1] calls for $pairs pairs");
    $redis->cmd('DEL', $key, $timeouts);
    return ['pair_us' => $found[2] / $pairs];
}

// ---- readers and writers ----

/**
 * Sections of no length for some seconds.
 * @return array<string, float> sections_per_s, and the median waits of readers and writers in µs
 */
function readers_and_writers(string $way, int $readers, int $writers, float $seconds): array
{
    $resource = fresh('rw');
    $gate = hrtime(true) + 2_000_000_000;
    $end = $gate + (int) ($seconds * 1e9);
    $results = fork_run($readers + $writers, function (int $process) use ($way, $readers, $resource, $gate, $end) {
        $dsn = bench_dsns()[0];
        $locks = $way === 'DistributedLock' ? new DistributedLock($dsn)
            : [new Dlock\ReadWriteLock($dsn, fairness: $way === 'ReadWriteLock' ? 'phase' : 'fifo'), $process < $readers ? 'readLock' : 'writeLock']();
        $locks->acquire(unique('warm-up'), 60)->release();
        usleep(max(0, intdiv($gate - hrtime(true), 1000)));
        for ($waits = []; ($began = hrtime(true)) < $end;) {
            $lease = $locks->tryAcquire($resource, max(0, $end - $began) / 1e9);
            if ($lease !== null) {
                $waits[] = (hrtime(true) - $began) / 1e3;
                $lease->release();
            }
        }
        return $waits;
    }, timeout: 120);
    $reads = array_merge(...array_slice($results, 0, $readers));
    $writes = array_merge(...array_slice($results, $readers));
    return ['sections_per_s' => (count($reads) + count($writes)) / $seconds, 'reads' => (float) count($reads), 'writes' => (float) count($writes),
        'reader_wait_p50' => median($reads), 'writer_wait_p50' => median($writes)];
}

// ---- all of it ----

function measure_permits(Bench $bench, Runs $runs, string $size): void
{
    $redis = new RedisRaw(bench_redis()[0], timeout: 60);
    ['rounds' => $rounds, 'requests' => $requests, 'php_requests' => $php_requests, 'pairs' => $pairs, 'seconds' => $seconds] = PERMITS[$size];
    ['units' => $units, 'processes' => $processes, 'readers' => $readers, 'writers' => $writers] = PERMITS;
    measure_ways($bench, $runs, 'sale', PERMITS['sale'], $rounds, fn (string $way) => match ($way) {
        'bare counter' => counter_sale($redis, $requests),
        'Stock' => stock_sale($redis, $requests, $units, 600_000, 0),
        'Stock, sold out' => sold_out($redis, $requests),
        'Stock, 90 % abandoned' => stock_sale($redis, $requests, $units, PERMITS['abandoned_ttl'], 90),
        'Stock, PHP' => php_sale('Stock', $processes, $php_requests, $units),
        'DistributedLock, PHP' => php_sale('DistributedLock', $processes, $php_requests, $units),
    });
    foreach (PERMITS['holders'] as $holders) {
        measure_ways($bench, $runs, "holders $holders", PERMITS['semaphores'], $rounds, fn (string $way) => semaphore_cost($redis, $way, $holders, $pairs));
    }
    measure_ways($bench, $runs, 'readers', PERMITS['readers_ways'], 1, fn (string $way) => readers_and_writers($way, $readers, $writers, $seconds));
}
