-- Sets the key of a lock again for its holder, where a server has not got it that was failed over to: as long as its era is not settled, nobody else can
-- have been granted it.
--
-- keys: 3
-- KEYS[1] the lock            KEYS[2] the fence           KEYS[3] the era
-- ARGV[1] the token           ARGV[2] lease time in ms            ARGV[3] the holder's fencing token          ARGV[4] the guard in ms
-- Replies 1 when the token has it now, 0 when another has it, or the era is settled: the lock is lost. Cost: O(1).
--#include era.lua
--#include forged.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] or not holder and look_at_era(KEYS[3], ARGV[4]) == 0 then
	return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', string.format('%.0f', math.max(ARGV[2], redis.call('PTTL', KEYS[1]))))
raise_fence(KEYS[2], ARGV[3], redis.call('GET', KEYS[2]))
return 1
