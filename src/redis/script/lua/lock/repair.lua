-- Sets the key for a holder with a quorum of the servers, on a server that lost the key or never had it.
--
-- keys: lock fence
-- args: token:text ttl:lease fencing_token:int
-- Replies 1 if the token holds the lock now, 0 if another token does. Cost: O(1).
--#include forged.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
local last = redis.call('GET', KEYS[2])
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) and redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
raise_fence(KEYS[2], ARGV[3], last)
return 1
