-- Releases a lock and does not serve its waiters, which look for themselves. It is for a slot that is being moved, in
-- which the server puts off a script with more than one key.
--
-- keys: lock
-- args: token:text
-- Replies 1 if the token held the lock, 0 if it did not. Cost: O(1).
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
	return 0
end
return redis.call('DEL', KEYS[1])
