-- Counts permits, exactly at that moment, and changes nothing. The permits of an expired lease count as available, but
-- are still its holder's.
--
-- keys: pool
-- args: capacity:count
-- Replies {permits in all, available, held, waiting}.
-- Cost: O(log n), and O(1) for each holder whose lease has expired and whose room no client has needed yet.
--#include permits_clock.lua
--#include permits_pool.lua
local pool = KEYS[1]
local all, used = tonumber(ARGV[1]), tonumber(redis.call('ZSCORE', pool, '$used') or 0)

local over = 0
local ids = redis.call('ZRANGEBYSCORE', pool, HELD, string.format('(%.0f', math.floor(clock(pool) / 1000)))
for first = 1, #ids, 1000 do
	local names = {}
	for i = first, math.min(first + 999, #ids) do
		names[#names + 1] = 'w' .. string.sub(ids[i], 2)
	end
	for _, permits in ipairs(redis.call('ZMSCORE', pool, unpack(names))) do
		over = over + (permits or 1)
	end
end
return {all, all - used + over, used - over, redis.call('ZCOUNT', pool, WAITS, '+inf')}
