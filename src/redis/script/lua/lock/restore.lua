-- Sets the key of a lock again for its holder, where a server has not got it that was failed over to: as long as its
-- epoch is not settled, no other client can have been granted it.
--
-- keys: lock fence epoch
-- args: token:text ttl:ms fencing_token:int guard:ms
-- ttl 0: the holder gives it back, and it was its own until now.
-- Replies 1 when the token has it now, or had it; 0 when another has it, or the epoch is settled: the lock is lost.
-- Then it writes, too, so that replicas can confirm it (WAIT): a master that was replaced has none. Cost: O(1).
--#include epoch.lua
--#include forged.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
local lock, ttl = KEYS[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1) -- of no effect, but a replica refuses it
if holder and holder ~= ARGV[1] or not holder and check_epoch(KEYS[3], ARGV[4]) == 0 then
	local known = redis.call('GET', KEYS[3])
	redis.call('SET', KEYS[3], known or '')
	return 0
end
if ttl == 0 then
	redis.call('DEL', lock)
	return 1
end
redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', lock))))
raise_fence(KEYS[2], ARGV[3], redis.call('GET', KEYS[2]))
return 1
