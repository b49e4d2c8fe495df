-- Included after the head of a downgrade script; never sent by itself.
--
-- The head has included permits_clock.lua, permits_pool.lua and permits_queue.lua. It has the local `replicated` and
-- the function is_unsettled(): if true, no client may be granted anything.
local pool, id, ttl = KEYS[1], ARGV[1], tonumber(ARGV[2])
local state = read(pool, clock(pool))
state.replicated = replicated
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
if permits and state.queue ~= 0 and is_unsettled() then
	note_queue(state, false)
	return 1
end
return permits and serve(state) and 2 or 1
