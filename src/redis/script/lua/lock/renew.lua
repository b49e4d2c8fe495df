-- Makes the lock last at least for the lease time from now on, if the token holds it. Unlike extend.lua it never
-- shortens a lease: it comes over a connection of its own, perhaps after a later request of the holder.
--
-- keys: lock
-- args: token:text ttl:lease
-- Replies 1 if it does, 0 if it does not. Cost: O(1).
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
	redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
