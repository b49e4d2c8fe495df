<?php
/* How a pool of permits or a stock is stored on its server: in one sorted set, by permits_pool.lua in
 * src/redis/script/lua/permits, and stock_pool.lua. */
declare(strict_types=1);

require_once __DIR__ . '/setting.php';

final class Books
{
    private const READ = "return {redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES'), redis.call('PTTL', KEYS[1]), redis.call('TIME')}";
    // As in those scripts.
    private const SOLD = 1e13, ENDED = 2e13, ALONE = 5e15;

    /** @var array<string, array<string, int>> by kind, which is the first letter, and name */
    private array $entries = ['$' => [], 'h' => [], 'w' => [], 'b' => [], 'r' => [], 'q' => [], 's' => [], 'u' => [], 'v' => [], 'a' => []];
    public readonly int $ttl;
    private readonly int $now;

    /** Reads all entries at one moment. */
    public function __construct(RedisRaw $server, private readonly string $key)
    {
        [$list, $this->ttl, $time] = $server->cmd('EVAL', self::READ, 1, $key);
        for ($i = 0; $i < count($list); $i += 2) {
            $this->entries[$list[$i][0]][substr($list[$i], 1)] = (int) (float) $list[$i + 1];
        }
        $this->now = (int) $time[0] * 1000 + intdiv((int) $time[1], 1000);
    }

    /**
     * What is left of a key and should not be: live permits, waiters, and wrong books. A pool itself expires some time
     * after its last lease, and a stock stays.
     * @return list<string>
     */
    public static function left(RedisRaw $server, string $key, int $capacity): array
    {
        if (!str_contains($key, Setting::PREFIX)) {
            return [$key];
        }
        $books = new self($server, $key);
        $left = ["$key: {$books->live()} permits" => $books->live(), "$key: {$books->waiters()} entries of waiters" => $books->waiters()];
        return [...array_keys(array_filter($left)), ...$books->errors($capacity)];
    }

    public function isThere(): bool
    {
        return $this->entries['$'] !== [];
    }

    public function size(): int
    {
        return array_sum(array_map('count', $this->entries));
    }

    public function number(string $name): int
    {
        return $this->entries['$'][$name] ?? 0;
    }

    /** @return array<string, int> units that are sold, by order */
    public function sold(): array
    {
        return array_map($this->permits(...), self::names(array_filter($this->entries['h'], fn (int $ends) => $ends >= self::SOLD && $ends < self::ENDED)));
    }

    /** @return array<string, int> permits that were acquired and not released, by id */
    public function held(): array
    {
        return array_map($this->permits(...), self::names(array_filter($this->entries['h'], fn (int $ends) => $ends < self::SOLD)));
    }

    /** Permits whose lease has not ended. */
    public function live(): int
    {
        return array_sum(array_map($this->permits(...), self::names(array_filter($this->entries['h'], fn (int $ends) => $ends >= $this->now && $ends < self::SOLD))));
    }

    /** @return array<string, int> by name */
    public function changes(): array
    {
        return $this->entries['r'];
    }

    public function waiters(): int
    {
        return count($this->entries['q']) + count($this->entries['s']);
    }

    /** @param int $capacity 0: a stock  @return list<string> what contradicts itself or a promise */
    public function errors(int $capacity): array
    {
        $sold = array_sum($this->sold());
        $all = $capacity > 0 ? $capacity : $this->number('stock');
        $used = $capacity > 0 ? $this->number('used') : $all - $this->number('sold') - $this->number('free');
        $buyers = [];
        foreach ($capacity > 0 ? [] : $this->sold() + $this->held() as $id => $pieces) {
            $buyer = explode('/', $id)[0];
            $buyers[$buyer] = ($buyers[$buyer] ?? 0) + $pieces;
        }
        ksort($buyers);
        ksort($this->entries['b']);
        $wrong = [
            "$sold units are sold, and counted as {$this->number('sold')}" => $sold !== $this->number('sold'),
            array_sum($this->held()) . " permits are held, and counted as $used" => array_sum($this->held()) !== $used,
            "$used permits and $sold that are sold are more than $all" => $used + $sold > $all,
            'permits of nobody: ' . json_encode(array_diff_key($this->entries['w'], $this->entries['h'])) => array_diff_key($this->entries['w'], $this->entries['h']) !== [],
            'buyers have ' . json_encode($buyers) . ', and are written down with ' . json_encode($this->entries['b']) => $buyers !== $this->entries['b'],
            'a buyer has more than the limit: ' . json_encode($buyers) => max([0, ...array_filter($buyers, fn (string $buyer) => !self::looksOn($buyer), ARRAY_FILTER_USE_KEY)]) > Setting::PER_BUYER,
            'changes make ' . array_sum($this->changes()) . ", not {$this->number('stock')}" => $capacity === 0 && array_sum($this->changes()) !== $this->number('stock'),
            'a waiter without a sign of life, or the other way round' => array_diff_key($this->entries['q'], $this->entries['s']) + array_diff_key($this->entries['s'], $this->entries['q']) !== [],
            'a waiter whose wish is not known, or the other way round' => $capacity === 0 && array_keys($this->entries['q']) != array_keys(array_intersect_key($this->entries['q'], $this->entries['u'])),
            'somebody waits, and nobody knows' => $this->number('queue') > ($this->entries['q'] === [] ? 0 : (max($this->entries['q']) >= self::ALONE ? -2 : -1)),
            'it lasts for ever, or a stock does not' => $this->isThere() && ($this->ttl === -1) !== ($capacity === 0),
        ];
        return array_map(fn (string $what) => "$this->key: $what", array_keys(array_filter($wrong)));
    }

    private static function looksOn(string $buyer): bool
    {
        return rawurldecode($buyer) === 'one who looks on';
    }

    private function permits(string $id): int
    {
        return $this->entries['w'][$id] ?? 1;
    }

    /** @return array<string, string> each name by itself */
    private static function names(array $entries): array
    {
        $names = array_map('strval', array_keys($entries));
        return $names ? array_combine($names, $names) : [];
    }
}
