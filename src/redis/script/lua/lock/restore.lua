-- Sets the key of a lock again for its holder, if a failover led to a server that lacks it. While that server's epoch
-- is not settled, no other client can have been granted the lock.
--
-- keys: lock fence epoch
-- args: token:text ttl:ms fencing_token:int guard:ms
-- ttl 0: the holder releases the lock, which it held until now.
-- Replies 1 if the token holds the lock now, or held it. Replies 0 if another token does, or the epoch is settled: the
-- lock is lost. The script always writes, so that replicas can confirm its reply (WAIT): a replaced master has no
-- replicas. Cost: O(1).
--#include epoch.lua
--#include forged.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
local lock, ttl = KEYS[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1) -- changes nothing, but a replica refuses it
local lost = holder and holder ~= ARGV[1] or not holder and check_epoch(KEYS[3], ARGV[4]) == 0
if lost or ttl == 0 then
	redis.call('SET', KEYS[3], redis.call('GET', KEYS[3]) or '')
end
if lost then
	return 0
end
if ttl == 0 then
	redis.call('DEL', lock)
	return 1
end
redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', lock))))
raise_fence(KEYS[2], ARGV[3], redis.call('GET', KEYS[2]))
return 1
