-- Reserves units of one product if enough are free and no waiter could have them. Otherwise queues, if an inbox is
-- given. A waiter repeats the script when its turn may have come, and as its sign of life.
--
-- keys: stock
-- args: dlock_stock_attempt *attempt { id:text units:int ttl:lease limit:count?
-- args: inbox:inbox? ticket:count? number:int?inbox strict:'s'|''?inbox }
--
--   id      buyer/order
--   limit   the most units for this buyer; '' or left out: as many as it likes
--   inbox   '' or left out, as all words after the ticket are: the request does not wait
--   ticket  '' or left out: none. A waiter sends it with its last request, too, which does not wait
--   strict  s: no later order passes it; '': a later order that wants less may pass it
--
-- Replies:
--   {1, fencing token, units, ms left, generation}: they are reserved
--   {2, fencing token, units, ms ago, generation}: they are sold
--   {0, ms until a reservation ends (-1: there is none), place in the queue (-1: none), ticket, 1 if it was not in the
--     queue before}: it waits, unless its place is -1
--   0: there are not enough, and it does not wait
--   {-1, the buyer's units}: the limit forbids it
--   {-2, ticket}: ask again, because there was more to do than one script does
--   {-3}: it was cancelled while it waited
--   {-4, the order's units, 1 if it has other products}: the name is another order's
--   {-5, 1 closed, 2 ended, 0 no such stock}
--
-- A repeated order finds what it has. Its reservation is only renewed if it was granted in the queue. Cost: O(log n):
-- two commands if all is sold, three or four if there is room; four for each waiter that it looks at; seven if
-- reservations have expired.
local pool, held, time, us = KEYS[1], 'h' .. ARGV[1], nil, nil
-- $full: nothing is free before a time; 0: not before a unit comes. A request that frees a unit removes it. So most
-- requests of a sale end here, and what costs them time is each number that they read. This number holds two: minus 64
-- times the time, minus the bits of how long before it was noted. A clock with an earlier time than that was set back.
if not ARGV[5] then
	local n = redis.call('ZMSCORE', pool, '$full', held)
	local full = n[1]
	if full and not n[2] then
		if full == '0' then
			return 0
		end
		time = redis.pcall('TIME')
		us = not time.err and time[1] * 1000000 + time[2]
		local ends = math.floor(-full / 64)
		if us and us < ends * 1000 and us > (ends - 2 ^ (-full % 64) - 1000) * 1000 then
			return 0
		end
	end
end
local wants, limit, buyer = tonumber(ARGV[2]), tonumber(ARGV[4]), string.match(ARGV[1], '^(.*)/')
-- There is room, no order waits, and the name is new.
local had, queue, free, fence, next, shift, closed, has =
	unpack(redis.call('ZMSCORE', pool, held, '$queue', '$free', '$fence', '$next', '$shift', '$closed', 'b' .. buyer))
if not had and not queue and not closed and not shift and free then
	time = time or redis.pcall('TIME')
	us = not time.err and time[1] * 1000000 + time[2]
	local now = us and math.floor(us / 1000)
	if us and us >= 1e15 and us > -(fence or 0) and (not next or -next >= now) and wants <= tonumber(free)
		and (not limit or (has or 0) + wants <= limit) then
		local ends = now + ARGV[3]
		if not next or ends < -next then
			redis.call('ZADD', pool, -ends, '$next')
		end
		if wants == 1 then
			redis.call('ZADD', pool, free - 1, '$free', -us, '$fence', ends, held, (has or 0) + 1, 'b' .. buyer)
		else
			redis.call('ZADD', pool, free - wants, '$free', -us, '$fence', ends, held, (has or 0) + wants, 'b' .. buyer,
				wants, 'w' .. ARGV[1])
		end
		return {1, us, wants, tonumber(ARGV[3]), 0}
	end
end

-- The common cases end here: even defining what follows costs time. So does room for its locals, which a function of
-- its own has.
return (function()
--#include permits_clock.lua
--#include stock_pool.lua
local id, ttl, inbox, ticket, nobody_passes = ARGV[1], tonumber(ARGV[3]), ARGV[5] ~= '' and ARGV[5],
	tonumber(ARGV[6] or '') or 0, ARGV[8] or ''
local stock = read(pool, us or clock(pool), 1)
local waiter = inbox and string.format('q%s %s %s %s %s', ARGV[2], ARGV[4], nobody_passes, id, inbox)
local was, new = 0, false
sweep(stock, AMORTISED)

-- Returns the reply to a request that finds its order, or may not have it; nil: neither.
local function settled()
	local score, units, products = order_of(stock, id)
	was = score
	if score > 0 and score < ENDED then
		if units ~= wants or products ~= '' then
			return {-4, units, products ~= '' and 1 or 0}
		end
		stock.fence = next_token(stock)
		if score < SOLD and ticket > 0 then
			score = math.max(score, stock.now + ttl + score % 1)
		end
		redis.call('ZADD', pool, -stock.fence, '$fence', string.format('%.6f', score), held)
		local time = math.floor(score % 1e13) - stock.now
		return score < SOLD and {1, stock.fence, units, time, generation_of(score)} or {2, stock.fence, units, -time,
			generation_of(score)}
	elseif ticket > 0 and is_settled(score) then
		return {-3}
	elseif not stock.known or stock.closed > 0 then
		return {-5, stock.closed}
	end
	local may, has, again = is_allowed(stock, buyer, wants, limit)
	if not may then
		return again and {-2, string.format('%.0f', ticket)} or {-1, has}
	end
end

-- The order leaves the queue. What was swept is for the waiters.
local function leave(reply)
	if waiter then
		redis.call('ZREM', pool, names_of(waiter))
		stock.left = true
	end
	serve(stock)
	if stock.left then
		note_queue(stock)
	end
	return reply
end

-- Queues the order, or notes that it is alive. LT lets a number only become less. A later sign of life is less, while a
-- ticket stays as it was.
local function enqueue()
	local place, signs, wish, strict = names_of(waiter)
	if ticket == 0 then
		ask_anew(stock, id, was)
		stock.fence = next_token(stock)
		ticket = stock.fence
	end
	local added = redis.call('ZADD', pool, 'LT', ticket, place, -stock.now * 1000 - ARGV[7] % 1000, signs,
		WANTS + wants, wish, -1, '$queue', -stock.fence, '$fence')
	if nobody_passes ~= '' then
		redis.call('ZADD', pool, 'LT', ticket + STRICT - WAITS, strict)
	end
	stock.queue, new = true, added > 2
end

-- The number of $full. 2 ^ bits is rounded down, so a request notes the time anew when half of it has passed.
local function full_until()
	if reserved_units(stock) == 0 or not stock.next then
		return 0
	end
	local _, bits = math.frexp(stock.next - stock.now + 1)
	return -64 * (stock.now + 2 ^ (bits - 1)) - (bits - 1)
end

local reply = settled()
if reply then
	return reply[1] == -2 and reply or leave(reply)
end
local possible = wants <= stock.all - stock.sold
local room, again = make_room(stock, wants)
if waiter and possible and (stock.queue or not room) then
	enqueue()
end
serve(stock, false, waiter, ttl)
if stock.mine then
	return {1, stock.mine, wants, ttl, stock.generation}
elseif stock.left then -- another process may wait with the same name, or for the same buyer
	reply = settled()
	if reply then
		return leave(reply)
	end
end
room, again = make_room(stock, wants)
if room and lets_pass(stock) then
	local generation = take(stock, id, wants, ttl, was, '')
	return leave({1, stock.fence, wants, ttl, generation})
elseif again or waiter and stock.more then
	return {-2, string.format('%.0f', ticket)}
elseif not waiter or not possible then
	if stock.free == 0 and stock.shift == 0 and not is_dusty(stock) and stock.known then
		redis.call('ZADD', pool, full_until(), '$full')
	end
	return waiter and leave({0, -1, -1, '0', 0}) or 0
end
local place = redis.call('ZSCORE', pool, waiter)
return {0, may_come(stock), redis.call('ZCOUNT', pool, WAITS, '(' .. place), string.format('%.0f', place),
	new and 1 or 0}
end)()
