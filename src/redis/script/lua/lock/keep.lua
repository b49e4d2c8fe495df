-- Makes the lock last for the lease time, if the token holds it. The script always writes, so that replicas can confirm
-- the reply (WAIT).
--
-- keys: lock
-- args: token:text ttl:ms shortens:'1'|'0'
-- ttl 0: the lease stays as it is, and nothing is written. shortens: the lease time is set even if more is left.
-- Replies 1 if the token holds the lock, 2 if there is no key, 0 if another token holds the lock. Cost: O(1).
local lock, ttl = KEYS[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
if holder ~= ARGV[1] then
	-- This changes nothing, but a replica refuses it: what a replica lacks says nothing.
	redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)
	return holder and 0 or 2
end
if ttl > 0 then
	redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))
end
return 1
