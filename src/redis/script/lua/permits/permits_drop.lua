-- Gives permits back without a look at waiters, who look for themselves. For a slot that is being moved, where a script
-- with more than one key is put off; and for permits that were restored too late.
--
-- keys: pool
-- args: id:text
-- Replies 1 when they were its, 0 when they were not. Cost: O(log n), three commands.
local pool, held = KEYS[1], 'h' .. ARGV[1]
local ends, permits, used = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1], '$used'))
if not ends then
	return 0
end
redis.call('ZREM', pool, held, 'w' .. ARGV[1])
redis.call('ZADD', pool, used - (permits or 1), '$used')
return 1
