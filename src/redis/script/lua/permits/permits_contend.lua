-- Included after the head of an acquire script for permits; never sent by itself.
--
-- The head has included permits_clock.lua and permits_pool.lua. It has the locals `own`; `sweeps`: this acquisition
-- sweeps; `unsettled`: not 0 if nothing may be granted (epoch.lua), and `replid` and `settles` then.
local pool, id, permits, capacity, inbox, ticket = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[5],
	ARGV[6]
-- A reader that waits to become the writer asks for the rest, with another id, and comes before all writers.
local upgrades = permits == ALL - 1 and capacity >= ALL
local us, ttl, alone = clock(pool), tonumber(ARGV[4]), (permits >= ALL or upgrades) and ARGV[8] ~= '1'
local now = math.floor(us / 1000)
local queue, held, used, fence, lasts, most = unpack(redis.call('ZMSCORE', pool, '$queue', 'h' .. id, '$used', '$fence',
	'$until', '$most'))
if not lasts and redis.call('ZSCORE', pool, '$stock') then -- a stock must not end with a lease
	return redis.error_reply('WRONGTYPE the key is that of a stock')
end
local fits = (used or 0) + permits <= capacity
local token = math.max(us, 1 - (fence or 0))
sweeps = sweeps or token % SWEEPS == 0

-- Restored holders, and a grant of the previous epoch that was not accepted, may be too many together
-- (permits_restore.lua). Then the grant is void.
if replid and held and (unsettled ~= 0 or tonumber(used) > tonumber(redis.call('ZSCORE', pool, '$cap')
	or capacity)) then
	local count = redis.call('ZSCORE', pool, 'w' .. id) or 1
	redis.call('ZREM', pool, 'h' .. id, 'w' .. id)
	used, held = used - count, nil
	redis.call('ZADD', pool, used, '$used')
	fits = used + permits <= capacity
end

if unsettled == 0 and fits and not queue and not held and not sweeps then
	hold(pool, id, permits, used or 0, token, now + ttl)
	if replid then
		redis.call('ZADD', pool, capacity, '$cap')
	end
	if now + ttl > -(lasts or 0) then
		last_until(pool, now, token, now + ttl)
	end
	return {1, token, permits, ttl}
end

-- Queues the waiter, or notes that it is alive. One command does both: LT lets a number only become less. A later sign
-- of life is less, while a ticket stays as it was. Returns its entry, and whether that is new.
local function enqueue(token)
	local waiter, signs = waiter_of(id, ARGV[2], ARGV[3], inbox)
	local place = upgrades and WAITS or ticket == '0' and token or tonumber(ticket)
	local added = redis.call('ZADD', pool, 'LT', alone and place + ALONE - WAITS or place, waiter,
		-now * 1000 - ARGV[7] % 1000, signs, alone and PHASES or QUEUED, '$queue', -token, '$fence')
	if capacity > tonumber(most or 0) then
		most = capacity
		redis.call('ZADD', pool, most, '$most')
	end
	return waiter, added > 1
end

-- When the first lease of a holder ends; nil: there is no holder.
local function first_end(used)
	return tonumber(used or 0) > 0 and tonumber(redis.call('ZRANGEBYSCORE', pool, HELD, '(1e13', 'WITHSCORES', 'LIMIT',
		0, 1)[2]) or nil
end

local function refusal(ends, waiter, new)
	local left = ends and math.max(0, ends - now) + 1 or -1
	if not waiter then
		return {0, left, -1, '0', 0}
	end
	local place = redis.call('ZSCORE', pool, waiter)
	return {0, left, redis.call('ZCOUNT', pool, WAITS, '(' .. place), string.format('%.0f', alone
		and place - ALONE + WAITS or place), new and 1 or 0}
end

-- The waiter keeps its place in the queue, while no client is granted a permit.
local function wait_for_epoch()
	local waiter, new = nil, false
	if inbox ~= '' then
		waiter, new = enqueue(token)
		if now + FORGET > -(lasts or 0) then
			last_until(pool, now, token, now + FORGET)
		end
	end
	local reply = refusal(nil, waiter, new)
	reply[2], reply[6], reply[7], reply[8] = unsettled, unsettled, replid, settles
	return reply
end

if unsettled ~= 0 then
	return wait_for_epoch()
end

if ticket == '0' and not held and not fits and not own and not upgrades then
	-- The request is new and does not fit. If no lease has expired, nothing has changed for the waiters.
	local ends = first_end(used)
	if not ends or ends >= now then
		if inbox == '' then
			return refusal(ends)
		end
		local waiter, new = enqueue(token)
		if now + FORGET > -(lasts or 0) then
			last_until(pool, now, token, now + FORGET)
		end
		return refusal(ends, waiter, new)
	end
end

-- The common cases end here: even defining what follows costs time.
--#include permits_queue.lua
local state = state_of(pool, us, used, fence, queue, lasts, most)
state.replicated = replid
if sweeps and take_back(state, now - GRACE, SWEPT) > 0 then
	held = redis.call('ZSCORE', pool, 'h' .. id)
end
local waiter, new = nil, false

-- Two readers that wait to become the writer would wait for each other, even if they disagree on phases.
local function is_second_upgrade()
	local own = waiter_of(id, ARGV[2], ARGV[3], inbox)
	for _, place in ipairs({WAITS, ALONE}) do
		for _, other in ipairs(redis.call('ZRANGEBYSCORE', pool, place, place)) do
			local sign = redis.call('ZSCORE', pool, 's' .. string.sub(other, 2))
			if other ~= own and now - math.floor(-(sign or 0) / 1000) < STALE
				and listens(string.match(other, '^q%d+ %d+ %S+ (%S*)')) then
				return true
			end
		end
	end
	return false
end
if upgrades and inbox ~= '' and not held and is_second_upgrade() then
	return {0, -1, -2, ticket, 0}
end

local function wait()
	if ticket == '0' then
		state.fence = next_token(state)
	end
	waiter, new = enqueue(state.fence)
	state.queue, state.most = math.min(state.queue, alone and PHASES or QUEUED), tonumber(most)
	keep(state, now + FORGET)
end

local function permits_of()
	return tonumber(redis.call('ZSCORE', pool, 'w' .. id) or 1)
end

-- Returns the reply to a request that finds its own permits; nil: it has none. Their lease begins anew, and may become
-- shorter than that of a grant.
local function settled(held)
	if not held then
		return nil
	end
	state.fence = next_token(state)
	redis.call('ZADD', pool, -state.fence, '$fence', now + ttl, 'h' .. id)
	keep(state, now + ttl)
	if inbox ~= '' then
		redis.call('ZREM', pool, waiter_of(id, ARGV[2], ARGV[3], inbox))
	end
	local reply = {1, state.fence, permits_of(), ttl}
	serve(state) -- it may have been in front of other waiters, or leases have expired
	return reply
end

-- Is it behind a waiter for permits that its own process keeps for as long as it waits? A reader that upgrades has one
-- permit already, and waits for all of the others.
local function is_behind_itself()
	local place = redis.call('ZSCORE', pool, waiter)
	-- A waiting writer comes before later readers
	local others = redis.call('ZRANGEBYSCORE', pool, ALONE, '+inf', 'LIMIT', 0, 1)
	if #others == 0 then
		others = redis.call('ZRANGEBYSCORE', pool, WAITS, '(' .. place, 'LIMIT', 0, PASSED)
	end
	for _, other in ipairs(others) do
		local wants, most, _, inbox = string.match(other, '^q(%d+) (%d+) (%S+) (%S*)')
		local free = other ~= waiter and tonumber(wants) == ALL - 1 and ALL - 2 or most - own
		if tonumber(most) >= capacity and tonumber(wants) > free and listens(inbox) then
			return true
		end
	end
	return false
end

local reply = settled(held)
if not reply and state.queue < 0 then
	if inbox ~= '' then
		wait()
	end
	serve(state, waiter, ttl)
	if state.mine then
		return {1, state.mine, permits, ttl}
	end
	-- Another process that waits with the same id may have been served just now.
	reply = settled(redis.call('ZSCORE', pool, 'h' .. id))
end
if reply then
	return reply
elseif (state.queue == 0 or is_passing(state, capacity)) and make_room(state, permits, capacity) then
	return {1, take(state, id, permits, ttl, capacity), permits, ttl}
elseif inbox ~= '' and not waiter then
	wait()
end
reply = refusal(first_end(state.used), waiter, new)
if own and waiter and is_behind_itself() then
	reply[3] = -2
end
if state.removed >= MOST_REMOVED then
	reply[2], reply[3] = 0, math.min(reply[3], 0) -- the client is to ask again at once
end
return reply
