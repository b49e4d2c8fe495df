-- How long does the token still hold the lock?
--
-- keys: 1
-- KEYS[1] the lock            ARGV[1] the token
-- Replies the remaining lease time in ms, 0 when the lock is not the token's. Cost: O(1).
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PTTL', KEYS[1])
end
return 0
