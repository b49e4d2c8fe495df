-- break.lua for one holder of a pool of permits. Its entry gets another name and keeps its end. So another client is
-- granted the permits only after the holder knows, or its lease has expired.
--
-- keys: pool
-- args: id:text by:text now:'1'|''
-- Replies the ms until the permits are free, 0 with `now`; -1 if the id holds none. With `now` they are available, and
-- waiters look for themselves. Cost: O(log n), and O(1) for each holder.
--#include id.lua
--#include permits_clock.lua
--#include permits_pool.lua
local pool = KEYS[1]
local now = math.floor(clock(pool) / 1000)
local holders = redis.call('ZRANGEBYSCORE', pool, string.format('%.0f', now), string.format('(%.0f', WAITS),
	'WITHSCORES')
for i = 1, #holders, 2 do
	local name = string.sub(holders[i], 2)
	if id_of(name) == ARGV[1] then
		if ARGV[3] ~= '1' and string.sub(name, 1, 7) == 'broken:' then
			return holders[i + 1] - now
		end
		local permits, used = redis.call('ZSCORE', pool, 'w' .. name), redis.call('ZSCORE', pool, '$used')
		redis.call('ZREM', pool, holders[i], 'w' .. name)
		if ARGV[3] == '1' then
			redis.call('ZADD', pool, used - (permits or 1), '$used')
			return 0
		end
		local other = 'broken:' .. ARGV[1] .. ':' .. ARGV[2]
		-- A failover may restore a holder that was broken before.
		local ends, before = holders[i + 1], redis.call('ZSCORE', pool, 'h' .. other)
		if before then
			ends = math.max(ends, before)
			permits = (permits or 1) + (redis.call('ZSCORE', pool, 'w' .. other) or 1)
		end
		redis.call('ZADD', pool, ends, 'h' .. other)
		if permits then
			redis.call('ZADD', pool, permits, 'w' .. other)
		end
		return ends - now
	end
end
return -1
