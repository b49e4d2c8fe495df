-- Gives held permits another id for the rest of the lease time: the old id no longer holds them.
--
-- keys: pool
-- args: old:text new_id:text
-- Replies {1, fencing token, ms left, permits} if the old id held them, or the new one does already; {0} if neither
-- does, or the lease has expired. A repeated request finds its new id, so a lost reply does no harm. The same script
-- with the ids swapped undoes the exchange. Cost: O(log n), four commands.
--#include permits_clock.lua
local pool = KEYS[1]
local n = redis.call('ZMSCORE', pool, 'h' .. ARGV[1], 'h' .. ARGV[2], 'w' .. ARGV[1], 'w' .. ARGV[2], '$fence')
local now = clock(pool)
local ends, permits = tonumber(n[1] or n[2] or 0), n[1] and n[3] or n[4]
local left, fence = ends - math.floor(now / 1000), math.max(now, 1 - (n[5] or 0))
if left < 1 then
	return {0}
end
if n[1] then
	redis.call('ZREM', pool, 'h' .. ARGV[1], 'w' .. ARGV[1])
end
redis.call('ZADD', pool, -fence, '$fence', ends, 'h' .. ARGV[2])
if permits then
	redis.call('ZADD', pool, permits, 'w' .. ARGV[2])
end
return {1, fence, left, tonumber(permits or 1)}
