-- A reader becomes the writer, if nobody else reads: also before writers that wait, who cannot go before it is out.
--
-- keys: pool
-- args: id:text ttl:lease rest:text?
-- rest: the id that has been granted the rest of the permits, where others read before. They become the reader's.
-- Replies {1, fencing token, permits, ms left}; {0, -1, -1, '0', 0}: others read; {0, -1, -3, '0', 0}: it holds nothing
-- any more, and the rest is given back. A repeated request finds its own permits. The lease gets no shorter, since this
-- may be executed late. Cost: O(log n), four commands.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local pool, id, ttl, rest = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]
local state = read(pool, clock(pool))
local ends, permits, others = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, 'w' .. (rest or '')))
if not ends or tonumber(ends) < state.now then
	if others then
		drop(state, { rest }, { others })
		serve(state)
	end
	return {0, -1, -3, '0', 0}
end
if tonumber(permits or 1) < ALL then
	if others then
		redis.call('ZREM', pool, 'h' .. rest, 'w' .. rest)
	elseif make_room(state, ALL - 1, ALL) then
		state.used = state.used + ALL - 1
	else
		return {0, -1, -1, '0', 0}
	end
end
state.fence = next_token(state)
redis.call('ZADD', pool, state.used, '$used', -state.fence, '$fence', math.max(ends, state.now + ttl), 'h' .. id, ALL,
	'w' .. id)
keep(state, state.now + ttl)
return {1, state.fence, ALL, ttl}
