-- raise.lua for several locks at once: only where all of them are the token's.
--
-- keys: locks...
-- args: token:text fencing_token:int
-- As in several_acquire.lua. Replies as raise.lua. Cost: O(n) for n locks.
--#include forged.lua
if is_forged(ARGV[2]) then
	return redis.error_reply(FORGED)
end
local fence = KEYS[#KEYS]
for i = 1, #KEYS - 1, 3 do
	if redis.call('GET', KEYS[i]) ~= ARGV[1] then
		return 0
	end
end
raise_fence(fence, ARGV[2], redis.call('GET', fence))
return 1
