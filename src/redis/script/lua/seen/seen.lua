-- Lists the keys of locks that clients wait for, or that were held for longer than a third of their lease time.
-- note_seen.lua noted them; some may be free again.
--
-- keys: seen
-- args: most:int
-- Cost: O(log n), and O(1) for each key.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
return redis.call('ZRANGEBYSCORE', KEYS[1], now, '+inf', 'LIMIT', 0, ARGV[1])
