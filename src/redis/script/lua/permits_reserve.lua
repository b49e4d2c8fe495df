-- Takes pieces of several stocks, of all or of none. It does not wait, and does not overtake those who wait for one of
-- them.
--
-- keys: stocks...
-- args: id:text ttl:lease limit:count pieces:int...
-- limit: the most pieces of each for this buyer; '': as many as it likes.
-- Replies {1, fencing token, 0, ms left, the pieces of each} when it has them all, {2, 0, 0, 0, the pieces of each}
-- when it has bought them all, {0, the first stock (from 1) that has not enough, 0, 0}, {-1, the first stock whose
-- limit forbids it, the buyer's pieces there, 0}. A repeated request finds what it has, as many as that are, with the
-- lease time that is left, and takes only what it has lost. Cost: O(log n), six commands for each stock.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local id, ttl, limit, us = ARGV[1], tonumber(ARGV[2]), ARGV[3], clock(KEYS[1])
local buyer, states, fence, bought, reply = buyer_of(id), {}, 0, 0, {1, 0, 0, 0}

-- The reply, where there are not enough; nil: there are.
local function refused(state, i)
	if not allowed(state, buyer, state.wants, limit) then
		serve(state) -- with what was taken back
		return {-1, i, tonumber(redis.call('ZSCORE', state.pool, 'b' .. buyer)), 0}
	end
	serve(state)
	if state.queue < 0 or not make_room(state, state.wants, '') then
		return {0, i, 0, 0}
	end
end

for i, pool in ipairs(KEYS) do
	local state = read(pool, us)
	states[i] = state
	local ends, pieces = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))
	state.ends, state.wants = tonumber(ends or nil), tonumber(ARGV[3 + i])
	reply[4 + i] = state.ends and tonumber(pieces or 1) or state.wants
	if not state.ends then
		local refusal = refused(state, i)
		if refusal then
			return refusal
		end
	elseif state.ends >= SOLD then
		bought = bought + 1
	elseif state.ends >= state.now then
		ttl = math.min(ttl, state.ends - state.now)
	end
	fence = math.max(fence, next_token(state))
end
if bought == #KEYS then
	reply[1] = 2
	return reply
end
for _, state in ipairs(states) do
	state.us = fence -- the same in all
	if not state.ends then
		take(state, id, state.wants, ttl, buyer)
	else
		-- Also of what it had: a token that was told must be above all before, and below all that follow.
		redis.call('ZADD', state.pool, -fence, '$fence')
		if state.ends < state.now then
			redis.call('ZADD', state.pool, state.now + ttl, 'h' .. id)
		end
	end
end
reply[2], reply[4] = fence, ttl
return reply
