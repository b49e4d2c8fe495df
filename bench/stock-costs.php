<?php
/* What a sale of a stock costs the server: CPU for each request, compared with a bare counter and the scripts of an
 * earlier commit.
 *
 *   stock-costs.php ROUNDS CROWD RESULTS [BEFORE]
 *
 * CROWD: bench/crowd.c, compiled. RESULTS: the file to write. BEFORE: a folder with the program of an earlier commit,
 * its scripts_lua.h, and its name.
 */
declare(strict_types=1);

require_once __DIR__ . '/../tests/inc/servers.inc';
require_once __DIR__ . '/../tests/inc/lua.inc';
require_once __DIR__ . '/figures.php';
require_once __DIR__ . '/usage.php';

const CONNECTIONS = 50;
const COUNTER = "return redis.call('DECR', KEYS[1])";
/** Units, requests, ttl in ms, and how many of a hundred reservations are never confirmed. */
const SALES = [
    'sold out' => [1, 100_000, 600_000, 0],
    'a whole sale' => [1000, 100_000, 600_000, 0],
    'reserve and confirm' => [30_000, 30_000, 600_000, 0],
    '90 % abandoned' => [5000, 100_000, 1000, 90],
];
/** What must hold: ratios of the requests per second of the server's CPU. */
const TARGETS = [
    ['sold out', 'stock', 'counter', 0.8],
    ['a whole sale', 'stock', 'counter', 0.75],
    ['reserve and confirm', 'stock', 'before', 1.0],
    ['90 % abandoned', 'stock', 'before', 1.2],
];

/** The scripts of one commit, and the program that calls them. */
final class Scripts
{
    private readonly string $restock, $reserve, $confirm;
    private readonly bool $old;

    public function __construct(private readonly RedisRaw $redis, private readonly string $crowd, string $header)
    {
        $this->old = !str_contains(file_get_contents($header), 'define DLOCK_LUA_STOCK_RESERVE ');
        $load = fn (string $name) => $redis->cmd('SCRIPT', 'LOAD', script($name, $header));
        [$this->restock, $this->reserve, $this->confirm] = array_map($load, $this->old
            ? ['permits_restock', 'permits_acquire', 'permits_confirm'] : ['stock_restock', 'stock_reserve', 'stock_confirm']);
    }

    /** @return float µs of the server's CPU for each request */
    public function sale(string $address, string $name): float
    {
        [$units, $requests, $ttl, $abandoned] = SALES[$name];
        $this->redis->cmd('FLUSHALL');
        $this->redis->cmd('EVALSHA', $this->restock, 1, 'stock', $units, ...$this->old ? [''] : ['opening', '0']);
        if ($name === 'sold out') {
            crowd($address, $this->crowd, CONNECTIONS, 'stock', $this->reserve, $this->confirm, (string) $ttl, '0');
        }
        [$us, $given] = crowd($address, $this->crowd, $requests, 'stock', $this->reserve, $this->confirm, (string) $ttl, (string) $abandoned);
        $abandoned > 0 || $given === ($name === 'sold out' ? 0 : min($units, $requests)) || throw new RuntimeException("$name: $given were given of $units");
        return $us;
    }
}

/** @return array{float, int} µs of the server's CPU for each request, and how many buyers reserved a unit */
function crowd(string $address, string $program, int $requests, string ...$more): array
{
    $usage = new Usage([$address]);
    $before = $usage->before(1);
    exec(implode(' ', array_map(escapeshellarg(...), [$program, $address, (string) CONNECTIONS, (string) $requests, ...$more])) . ' 2>&1', $lines, $status);
    $status === 0 || throw new RuntimeException(implode("\n", $lines));
    return [$usage->since($before, 1)['cpu'] / $requests, (int) explode(' ', $lines[0])[1]];
}

[, $rounds, $crowd, $file] = $argv;
$before = $argv[4] ?? null;
$server = redis_private();
$redis = $server->raw();
$ways = ['stock' => new Scripts($redis, $crowd, __DIR__ . '/../src/redis/script/scripts_lua.h')]
    + ($before === null ? [] : ['before' => new Scripts($redis, "$before/crowd", "$before/scripts_lua.h")]);
$counter = $redis->cmd('SCRIPT', 'LOAD', COUNTER);
$costs = [];
for ($round = 0; $round < $rounds; $round++) {
    $costs['counter'][$round] = crowd($server->address(), $crowd, 100_000, 'counter', $counter)[0];
    foreach (array_keys(SALES) as $name) {
        foreach ($ways as $way => $scripts) {
            $costs["$name, $way"][$round] = $scripts->sale($server->address(), $name);
        }
    }
}
echo "Server CPU for each request, µs: median, least, greatest of $rounds rounds\n";
foreach ($costs as $what => $values) {
    printf("  %-32s %6.2f %6.2f %6.2f\n", $what, median($values), min($values), max($values));
}
echo "Requests per second of it, to those of the other: median of the rounds' ratios\n";
$ratios = [];
foreach (TARGETS as [$name, $way, $other, $target]) {
    $others = $costs[$other === 'counter' ? 'counter' : "$name, $other"] ?? null;
    if ($others !== null) {
        $of_rounds = array_map(fn (float $us, float $of) => $of / $us, $costs["$name, $way"], $others);
        $ratios[] = ['what' => $name, 'to' => $other, 'measured' => median($of_rounds), 'low' => min($of_rounds), 'high' => max($of_rounds), 'relation' => '>=', 'bar' => $target, 'aim' => null];
        printf("  %-32s %6.2f   target %.2f\n", "$name, to $other", median($of_rounds), $target);
    }
}
file_put_contents($file, json_encode(['date' => date('Y-m-d'), 'rounds' => (int) $rounds, 'commit' => trim((string) shell_exec('git describe --always --dirty 2> /dev/null')),
    'before' => $before === null ? null : trim(file_get_contents("$before/commit")), 'sales' => SALES, 'medians' => array_map(median(...), $costs), 'ratios' => $ratios]));
