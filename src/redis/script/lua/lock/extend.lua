-- Sets a new lease time, if the lock is the token's.
--
-- keys: lock
-- args: token:text ttl:lease
-- Replies 1 when it was, 0 when it was not. Cost: O(1).
if redis.call('GET', KEYS[1]) == ARGV[1] then
	return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
