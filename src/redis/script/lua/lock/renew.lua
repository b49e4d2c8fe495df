-- Makes the lock last for the lease time from now on at least, if it is the token's. Unlike extend it never shortens a
-- lease: it comes over a connection of its own, and so perhaps after what the holder asked for later.
--
-- keys: lock
-- args: token:text ttl:lease
-- Replies 1 when it was, 0 when it was not. Cost: O(1).
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
