-- Raises the fence to a fencing token that other servers gave out, if the token holds the lock. Without that check, a
-- late request could raise the fence while a later holder has the lock.
--
-- keys: lock fence
-- args: token:text fencing_token:int
-- Replies 1 if the fence is at least that now, 0 if the token does not hold the lock. Cost: O(1).
--#include forged.lua
if is_forged(ARGV[2]) then
	return redis.error_reply(FORGED)
end
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
raise_fence(KEYS[2], ARGV[2], redis.call('GET', KEYS[2]))
return 1
