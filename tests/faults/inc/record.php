<?php
/* The record that the locks protect, on a Redis server without faults. It accepts a holder only with a fencing token
 * above all earlier ones, and then only that holder's updates. It keeps a journal of what it accepted. */
declare(strict_types=1);

require_once __DIR__ . '/../../inc/redis_raw.inc';

final class Record
{
    private const OPEN = "if tonumber(ARGV[1]) <= tonumber(redis.call('HGET', KEYS[1], 'fence') or 0) then return -1 end
        redis.call('HSET', KEYS[1], 'fence', ARGV[1])
        redis.call('RPUSH', KEYS[2], 'open ' .. ARGV[1] .. ' ' .. ARGV[2])
        return tonumber(redis.call('HGET', KEYS[1], 'value') or 0)";
    private const UPDATE = "if ARGV[1] ~= redis.call('HGET', KEYS[1], 'fence') then return 0 end
        redis.call('HSET', KEYS[1], 'value', ARGV[3])
        redis.call('RPUSH', KEYS[2], 'update ' .. ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. ARGV[3])
        return 1";

    private ?RedisRaw $redis = null;
    private int $owner = 0;

    public function __construct(private readonly string $address)
    {
    }

    /** Returns the value; -1: the token is not above all earlier ones. */
    public function open(string $resource, int $fence, string $id): int
    {
        return $this->redis()->cmd('EVAL', self::OPEN, 2, "record:$resource", "journal:$resource", $fence, $id);
    }

    /** Sets the value, if no later holder has opened the record meanwhile. */
    public function update(string $resource, int $fence, string $id, int $value): bool
    {
        return $this->redis()->cmd('EVAL', self::UPDATE, 2, "record:$resource", "journal:$resource", $fence, $id, $value) === 1;
    }

    public function value(string $resource): int
    {
        return (int) $this->redis()->cmd('HGET', "record:$resource", 'value');
    }

    /** @return list<string> "open FENCE ID" and "update FENCE ID VALUE" in the order of acceptance */
    public function journal(string $resource): array
    {
        return $this->redis()->cmd('LRANGE', "journal:$resource", 0, -1);
    }

    /** @return list<string> keys that do not belong to the record: no client requests locks from this server */
    public function strangers(): array
    {
        return preg_grep('/^(record|journal):/', $this->redis()->cmd('KEYS', '*'), PREG_GREP_INVERT);
    }

    public function close(): void
    {
        $this->redis?->close();
        $this->redis = null;
        $this->owner = 0;
    }

    /** A forked child opens a connection of its own. */
    private function redis(): RedisRaw
    {
        if ($this->owner !== getmypid()) {
            $this->owner = getmypid();
            $this->redis = new RedisRaw($this->address, null, 'default', 30);
        }
        return $this->redis;
    }
}
