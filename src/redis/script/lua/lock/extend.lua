-- Sets a new lease time, if the token holds the lock.
--
-- keys: lock
-- args: token:text ttl:lease
-- Replies 1 if it does, 0 if it does not. Cost: O(1).
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
