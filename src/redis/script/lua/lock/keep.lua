-- Makes the lock last for the lease time, if it is the token's, and always writes, so that replicas can confirm it
-- (WAIT).
--
-- keys: lock
-- args: token:text ttl:ms shortens:'1'|'0'
-- ttl 0: as it is, and nothing is written. shortens: also where it is shorter than what is left.
-- Replies 1 when it was the token's, 2 when there is no key, 0 when it is another token's. Cost: O(1).
local lock, ttl = KEYS[1], tonumber(ARGV[2])
local holder = redis.call('GET', lock)
if holder ~= ARGV[1] then
	-- Of no effect, but a replica refuses it: what that has not got says nothing.
	redis.call('SET', lock, '', holder and 'NX' or 'XX', 'PX', 1)
	return holder and 0 or 2
end
if ttl > 0 then
	redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))
end
return 1
