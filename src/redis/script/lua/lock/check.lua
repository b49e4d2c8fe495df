-- How long does the token still hold the lock?
--
-- keys: lock
-- args: token:text
-- Replies the remaining lease time in ms, 0 when the lock is not the token's. Cost: O(1).
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PTTL', KEYS[1])
end
return 0
