-- Gives the lock back, if it is the token's.
--
-- KEYS[1] the lock            ARGV[1] the token
-- Replies 1 when it was, 0 when it was not. Cost: O(1).
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('DEL', KEYS[1])
end
return 0
