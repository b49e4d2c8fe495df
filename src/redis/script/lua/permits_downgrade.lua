-- The writer becomes a reader, together with the readers that wait: a release that has come back first.
--
-- keys: pool
-- args: id:text ttl:lease
-- Replies 0 when it holds nothing any more, 1 when it reads, 2 when waiters were granted some of it, too. A reader
-- stays one. The lease gets no shorter, since this may be executed late. Cost: O(log n), four commands.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local pool, id, ttl = KEYS[1], ARGV[1], tonumber(ARGV[2])
local state = read(pool, clock(pool))
local ends, permits = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))
if not ends or tonumber(ends) < state.now then
	return 0
end
if permits then
	redis.call('ZREM', pool, 'w' .. id)
	state.used, state.phase = state.used - permits + 1, ALONE
end
redis.call('ZADD', pool, state.used, '$used', math.max(ends, state.now + ttl), 'h' .. id)
keep(state, state.now + ttl)
return permits and serve(state) and 2 or 1
