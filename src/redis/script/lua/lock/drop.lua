-- Gives a lock back without a look at waiters, who look for themselves. For a slot that is being moved, where a script
-- with more than one key is put off.
--
-- keys: lock
-- args: token:text
-- Replies 1 when it was the token's, 0 when it was not. Cost: O(1).
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
return redis.call('DEL', KEYS[1])
