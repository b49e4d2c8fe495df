-- Tells how long the token still holds the lock.
--
-- keys: lock
-- args: token:text
-- Replies the remaining lease time in ms, or 0 if the token does not hold the lock. Cost: O(1).
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PTTL', KEYS[1])
end
return 0
