-- For how long are the permits still the id's?
--
-- keys: pool
-- args: id:text
-- Replies {ms left, permits}: 0 ms when the lease is over and no client has needed the room yet, {-1, 0} when they are
-- not its. Cost: O(1), two commands.
--#include permits_clock.lua
local ends, permits = unpack(redis.call('ZMSCORE', KEYS[1], 'h' .. ARGV[1], 'w' .. ARGV[1]))
if not ends then
	return {-1, 0}
end
return {math.max(0, ends - math.floor(clock(KEYS[1]) / 1000)), tonumber(permits or 1)}
