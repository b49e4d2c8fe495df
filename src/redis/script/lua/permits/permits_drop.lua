-- Releases permits and does not serve waiters, which look for themselves. It is for a slot that is being moved, in
-- which the server puts off a script with more than one key; and for permits that were restored too late.
--
-- keys: pool
-- args: id:text
-- Replies 1 if the id held them, 0 if it did not. Cost: O(log n), three commands.
local pool, held = KEYS[1], 'h' .. ARGV[1]
local ends, permits, used = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1], '$used'))
if not ends then
	return 0
end
redis.call('ZREM', pool, held, 'w' .. ARGV[1])
redis.call('ZADD', pool, used - (permits or 1), '$used')
return 1
