-- Included after permits_pool.lua in scripts that reclaim permits, or grant them to waiters; never sent by itself.

-- This number of expired leases is reclaimed at a time.
local CHUNK = 100
-- After this number of grants a script serves no more waiters, because it keeps all other clients waiting. The next
-- waiter is told to ask, and continues.
local BATCH = 100
-- Nor does a script remove more waiters without a grant, such as dead ones. Then it may tell no waiter: the asking
-- client continues.
local MOST_REMOVED = 100

-- The most waiters that a script asks the server about and passes by, to serve waiters behind them that ask with a
-- higher capacity; and the most that it passes by at all.
local PASSED, FAR = 32, 1000

-- What a script knows of its pool: the numbers as they are now. `us` and `now`: the time in us and in ms.
local function state_of(pool, us, used, fence, queue, lasts, most)
	queue = tonumber(queue or 0)
	return { pool = pool, us = us, now = math.floor(us / 1000), used = tonumber(used or 0), fence = -(fence or 0),
		queue = queue,
		phase = queue < PHASES and -queue, lasts = -(lasts or 0), most = tonumber(most or math.huge), blocked = 0,
			passed = 0, grants = 0, removed = 0 }
end

local function read(pool, us)
	return state_of(pool, us, unpack(redis.call('ZMSCORE', pool, '$used', '$fence', '$queue', '$until', '$most')))
end

local function next_token(state)
	return math.max(state.us, state.fence + 1)
end

local function keep(state, ends)
	if ends > state.lasts then
		last_until(state.pool, state.now, state.fence, ends)
		state.lasts = ends
	end
end

-- ---- reclaiming ----

-- Removes holders, which must be there, with their permits (false: 1). ZREM goes first: if no memory is left, only a
-- script that has already written may go on to writes that need some.
local function drop(state, ids, permits)
	local names, freed, writer = {}, 0, false
	for i, id in ipairs(ids) do
		local count = tonumber(permits[i] or 1)
		freed, writer = freed + count, writer or count >= ALL
		names[#names + 1] = 'h' .. id
		names[#names + 1] = 'w' .. id
	end
	redis.call('ZREM', state.pool, unpack(names))
	state.used = state.used - freed
	redis.call('ZADD', state.pool, state.used, '$used')
	if writer then
		state.phase = ALONE -- a writer is out: the readers' turn, of all that wait
	end
end

-- Reclaims the permits of leases that expired before that time, the oldest first. Returns the number of leases.
local function take_back(state, before, most)
	local ids, names = redis.call('ZRANGEBYSCORE', state.pool, HELD, string.format('(%.0f', before), 'LIMIT', 0, most),
		{}
	if #ids > 0 then
		for i, held in ipairs(ids) do
			ids[i] = string.sub(held, 2)
			names[i] = 'w' .. ids[i]
		end
		drop(state, ids, redis.call('ZMSCORE', state.pool, unpack(names)))
	end
	return #ids
end

-- Reclaims expired leases for a request that needs the room. False: there are none.
local function reclaim(state)
	if state.used == 0 or state.reclaimed then
		return false
	end
	local count = take_back(state, state.now, CHUNK)
	state.reclaimed = count < CHUNK
	return count > 0
end

-- ---- granting ----

-- The number of free permits.
local function room(state, capacity)
	return tonumber(capacity) - state.used
end

-- Is there room for these permits? Expired leases are reclaimed until there is.
local function make_room(state, permits, capacity)
	while permits > room(state, capacity) do
		if not reclaim(state) then
			return false
		end
	end
	return true
end

-- Grants permits for which that capacity has room, for `ttl` ms. Returns the fencing token.
local function take(state, id, permits, ttl, capacity)
	state.fence = next_token(state)
	if state.replicated then
		redis.call('ZADD', state.pool, capacity, '$cap')
	end
	hold(state.pool, id, permits, state.used, state.fence, state.now + ttl)
	state.used = state.used + permits
	keep(state, state.now + ttl)
	return state.fence
end

-- ---- waiters ----

-- Do all waiters ask with a lower capacity? They wait for releases that a request with this capacity does not need, so
-- it passes them.
local function is_passing(state, capacity)
	return state.queue > PHASES and capacity > state.most
end

-- Returns the next waiters after `skip` of them, `count` at most, in the order of tickets. But phases alternate in a
-- read/write lock: after a writer all readers that wait, after readers the first writer. If a readers' phase is too
-- long for one script, the next script continues it: $queue is minus the last ticket of its readers then. The second
-- result: there are no more waiters.
local function next_waiters(state, count, skip)
	local function first(from, to, count)
		return redis.call('ZRANGEBYSCORE', state.pool, from, to, 'LIMIT', skip, count)
	end
	if state.queue > PHASES then
		local names = first(WAITS, '+inf', count)
		return names, #names < count
	end
	if state.phase then
		local readers = first(WAITS, string.format('%.0f', state.phase), count)
		if #readers > 0 then
			return readers, false
		end
		state.phase = false
	end
	local writer = first(ALONE, '+inf', 1)
	if #writer > 0 then
		return writer, false
	end
	local readers = first(WAITS, '+inf', count)
	return readers, #readers < count
end

-- Does its process listen? If the user may not ask, the waiter counts as alive for as long as it gives signs of life.
local function listens(inbox)
	local listeners = redis.pcall('PUBSUB', 'NUMSUB', inbox)
	return listeners.err or listeners[2] > 0
end

-- Grants the first waiter its permits, or removes it if it is dead: without a sign of life, or without a listening
-- process. The message has the number of its last sign, to tell an old grant from a new one, and its fencing token.
-- Token 0: it is only to ask again, because it holds its permits already, or because this script has done enough. The
-- waiter `me` is not told.
-- False: no waiter behind it is served, because it stays in the queue, or because this script has removed enough. The
-- second result: except waiters that ask with a higher capacity. Cost: O(log n), four commands.
local function serve_waiter(state, waiter, me, ttl)
	local permits, capacity, id, inbox = string.match(waiter, '^q(%d+) (%d+) (%S+) (%S*)')
	if tonumber(capacity) <= state.blocked then
		return false, true
	end
	local signs, mine = 's' .. string.sub(waiter, 2), waiter == me
	local sign, held = unpack(redis.call('ZMSCORE', state.pool, signs, 'h' .. id))
	local live = mine or state.now - math.floor(-(sign or 0) / 1000) < STALE
	permits = tonumber(permits)
	local may = live and not held
	if may and not make_room(state, permits, capacity) then
		if mine or room(state, capacity) <= 0 or listens(inbox) then
			state.blocked, state.passed = tonumber(capacity), state.passed + 1
			return false, true
		end
		live, may = false, false
	end
	if live and not mine then
		local enough = may and state.grants >= BATCH
		local fence = may and not enough and next_token(state) or 0
		local receivers = redis.pcall('PUBLISH', inbox, string.format('%s %.0f %.0f', id, -sign % 1000, fence))
		-- If the user has no right to publish, all waiters look at intervals, and each finds its own turn.
		if type(receivers) == 'table' or enough and receivers > 0 then
			return false
		end
		may = may and receivers > 0
	end
	redis.call('ZREM', state.pool, waiter, signs)
	if may then
		local fence = take(state, id, permits, mine and ttl or GRACE, capacity)
		state.grants, state.mine = state.grants + 1, mine and fence or state.mine
	else
		state.removed = state.removed + 1
	end
	return state.removed < MOST_REMOVED
end

-- May a waiter behind those that stay be served? Only if it asks with a higher capacity, which has room.
local function looks_further(state, skip)
	return state.queue > PHASES and state.most > state.blocked and room(state, state.most) > 0 and state.passed < PASSED
		and skip < FAR
end

-- All waiters have been looked at, and none asks with more than state.blocked. ZREM goes first, as in drop().
local function note_most(state)
	if state.blocked < state.most then
		redis.call('ZREM', state.pool, '$most')
		redis.call('ZADD', state.pool, state.blocked, '$most')
		state.most = state.blocked
	end
end

-- Updates what the pool says about the queue.
local function note_queue(state, empty)
	local queue = math.max(state.queue, PHASES)
	if empty then
		queue = 0
	elseif state.phase then -- even if no writer waits yet: a writer that comes now is behind these readers
		queue = -math.min(state.phase, math.max(state.us, state.fence))
	end
	if queue ~= state.queue then
		if empty then
			redis.call('ZREM', state.pool, '$queue', '$most')
		else
			redis.call('ZADD', state.pool, queue, '$queue')
		end
		state.queue = queue
	end
end

-- Grants permits to the next waiters while there is room for the first of them; one message each. The waiter `me` is
-- granted its own for `ttl`, and state.mine is its fencing token then. Returns whether any waiter was granted permits.
local function serve(state, me, ttl)
	if state.queue == 0 then
		return false
	elseif state.queue <= PHASES then
		reclaim(state) -- a writer that has expired ends its phase
	end
	local count, skip, going, empty = 2, 0, state.removed < MOST_REMOVED, false
	while going and not empty do
		local names
		names, empty = next_waiters(state, count, skip)
		for _, waiter in ipairs(names) do
			local stays
			going, stays = serve_waiter(state, waiter, me, ttl)
			if stays then
				skip = skip + 1
				going = looks_further(state, skip)
			end
			if not going then
				empty = false
				break
			end
		end
		count = 32 -- a release mostly serves one waiter; after two there may be many
	end
	if empty and skip > 0 then
		note_most(state)
	end
	note_queue(state, empty and skip == 0)
	return state.grants > 0
end
