-- Included after the head of an upgrade script; never sent by itself.
--
-- The head has included permits_clock.lua, permits_pool.lua and permits_queue.lua, and has the local `replicated`.
local pool, id, ttl, rest = KEYS[1], ARGV[1], tonumber(ARGV[2]), ARGV[3]
local state = read(pool, clock(pool))
state.replicated = replicated
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
