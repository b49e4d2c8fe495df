-- Tells how long the id still holds its permits.
--
-- keys: pool
-- args: id:text
-- Replies {ms left, permits}: 0 ms if the lease has expired and no client has needed the room yet, {-1, 0} if the id
-- holds none. Cost: O(1), two commands.
--#include permits_clock.lua
local ends, permits = unpack(redis.call('ZMSCORE', KEYS[1], 'h' .. ARGV[1], 'w' .. ARGV[1]))
if not ends then
	return {-1, 0}
end
return {math.max(0, ends - math.floor(clock(KEYS[1]) / 1000)), tonumber(permits or 1)}
