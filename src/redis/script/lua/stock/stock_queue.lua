-- Included at the end of stock_pool.lua: the waiters.
--
-- First fit: a waiter that wants more than is free is passed over, and stays where it is. A strict waiter is not: no
-- later order passes it. An order that does not wait may only have what is free if that is less than any waiter wants.
--
-- An order of several products waits in one queue, that of a product that it lacks. A script on this product may not
-- touch the others, so it cannot reserve the order's units. In its turn the order is told to ask again, and the units
-- are kept for it until it has.

-- The fewest units that any order waits for.
local function least(stock)
	local first = redis.call('ZRANGEBYSCORE', stock.pool, WANTS, WANTS + 1e9, 'WITHSCORES', 'LIMIT', 0, 1)[2]
	return first and first - WANTS or math.huge
end

-- The ticket of the first strict waiter; infinite if there is none.
local function first_strict(stock)
	local first = redis.call('ZRANGEBYSCORE', stock.pool, STRICT, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
	return first and first - STRICT + WAITS or math.huge
end

-- May an order that comes now have what is free?
local function lets_pass(stock)
	return not stock.queue or stock.free < least(stock) and first_strict(stock) == math.huge
end

-- The first waiters.
local function first_waiters(stock, most)
	return redis.call('ZRANGEBYSCORE', stock.pool, WAITS, string.format('(%.0f', STRICT), 'LIMIT', 0, most)
end

-- The names of a waiter's entries, the last of which only a strict one has.
local function names_of(waiter)
	local name = string.sub(waiter, 2)
	return 'q' .. name, 's' .. name, 'u' .. name, 'v' .. name
end

-- Does an order have what it waits for, or was it cancelled or refunded since the last request that came to wait?
-- Clocks cannot tell which was first, because tickets run ahead of the time by different amounts.
local function is_settled(score)
	return score > 0 and score < ENDED or score >= CANCELLED and score * 64 % 1 == 0
end

-- A new request comes to wait for an order: an earlier cancellation or refund does not withdraw it.
local function ask_anew(stock, id, score)
	if score >= CANCELLED and is_settled(score) then
		redis.call('ZADD', stock.pool, string.format('%.7f', score + 1 / 128), 'h' .. id)
	end
end

local function gives_signs(stock, sign)
	return stock.now - math.floor(-(sign or 0) / 1000) < STALE
end

-- Does its process listen? If the user may not ask, the waiter counts as alive for as long as it gives signs of life.
local function listens(inbox)
	local listeners = redis.pcall('PUBSUB', 'NUMSUB', inbox)
	return listeners.err or listeners[2] > 0
end

-- Tells a waiter. The message has the number of its last sign, to tell an old message from a new one, and its fencing
-- token; 0: it is only to ask again. Returns the number of receivers; nil: the user may not publish. Then all waiters
-- look at intervals, and each finds its own turn.
local function tell(id, inbox, sign, fence)
	local receivers = redis.pcall('PUBLISH', inbox, string.format('%s %.0f %.0f', id, -(sign or 0) % 1000, fence))
	return type(receivers) ~= 'table' and receivers or nil
end

-- Reserves a waiter's units, or removes the waiter if it is dead, or if it is to ask again: it has its units, may not
-- have them, or never can. The waiter `me` is not told. False: the waiter stays where it is. The second result: and no
-- waiter behind it is served.
local function serve_waiter(stock, waiter, me, ttl)
	local units, limit, strict, several, id, inbox = string.match(waiter, '^.(%d+) (%d*) (s?)(m?) (%S+) (%S*)$')
	local place, signs = names_of(waiter)
	local ticket, sign = unpack(redis.call('ZMSCORE', stock.pool, place, signs))
	if not ticket then
		return true
	end
	local mine, score = place == me, order_of(stock, id)
	local live = mine or gives_signs(stock, sign)
	units, limit = tonumber(units), tonumber(limit)
	local may = live and not is_settled(score) and stock.closed == 0
		and units <= stock.all - stock.sold
		and is_allowed(stock, buyer_of(id), units, limit)
	if may and not make_room(stock, units + stock.kept) then
		if mine or strict == '' or listens(inbox) then
			return false, strict ~= ''
		end
		live, may = false, false
	end
	if live and not mine then
		local receivers = tell(id, inbox, sign, may and several == '' and next_token(stock) or 0)
		if not receivers then
			return false, strict ~= ''
		end
		may = may and receivers > 0
	end
	if may and several ~= '' then
		stock.kept, stock.turn = stock.kept + units, stock.turn or mine
		return false, strict ~= ''
	end
	redis.call('ZREM', stock.pool, names_of(waiter))
	stock.left = true
	if may then
		local generation = take(stock, id, units, mine and ttl or GRACE, score, '')
		if mine then
			stock.mine, stock.generation = stock.fence, generation
		end
	end
	return true
end

local function serve_all(stock, waiters, me, ttl)
	for _, waiter in ipairs(waiters) do
		local _, blocked = serve_waiter(stock, waiter, me, ttl)
		if blocked then
			return true
		end
	end
end

-- Of the waiters behind the first ones, returns those for which the free units are enough, in order. None of them is
-- behind a strict waiter.
local function next_fitting(stock, last)
	local fitting, upto = {}, string.format('%.0f', math.min(last, STRICT - 1))
	for from = stock.scan, stock.scan + FAR - 1, PAGE do
		local waiters = redis.call('ZRANGEBYSCORE', stock.pool, WAITS, upto, 'LIMIT', from, PAGE)
		for _, waiter in ipairs(waiters) do
			if tonumber(string.match(waiter, '^.(%d+)')) <= stock.free and #fitting < stock.scan then
				fitting[#fitting + 1] = waiter
			end
		end
		if #waiters < PAGE or #fitting == stock.scan then
			break
		end
	end
	return fitting
end

-- The same of all waiters, but only of those that want the least. Of waiters that want the same, the names decide.
local function fitting_by_units(stock, last)
	local waiters = redis.call('ZRANGEBYSCORE', stock.pool, WANTS + 1, WANTS + stock.free, 'LIMIT', 0, stock.scan)
	local tickets = {}
	for i, waiter in ipairs(waiters) do
		tickets[waiter] = tonumber(redis.call('ZSCORE', stock.pool, (names_of(waiter))) or 0)
	end
	table.sort(waiters, function(a, b) return tickets[a] < tickets[b] end)
	while #waiters > 0 and tickets[waiters[#waiters]] > last do
		table.remove(waiters)
	end
	return waiters
end

local function fitting(stock)
	local last = first_strict(stock)
	local waiters = next_fitting(stock, last)
	return #waiters > 0 and waiters or fitting_by_units(stock, last)
end

-- Removes dead strict waiters up to the first live one. Wherever they are, they would keep out all later orders.
local function drop_dead_strict(stock, me)
	for _, waiter in ipairs(redis.call('ZRANGEBYSCORE', stock.pool, STRICT, '+inf', 'LIMIT', 0, stock.scan)) do
		local place, signs = names_of(waiter)
		if place == me or gives_signs(stock, redis.call('ZSCORE', stock.pool, signs))
			and listens(string.match(waiter, '(%S*)$')) then
			return
		end
		redis.call('ZREM', stock.pool, names_of(waiter))
		stock.left = true
	end
end

-- In how many ms may units come, from a reservation that expires, or from what is kept for another waiter? -1: never.
local function may_come(stock)
	return reserved_units(stock) > 0 and stock.next and math.max(0, stock.next - stock.now) + 1
		or stock.kept > 0 and GRACE or -1
end

-- Removes $queue if there is no waiter any more.
local function note_queue(stock)
	if stock.queue and #first_waiters(stock, 1) == 0 then
		redis.call('ZREM', stock.pool, '$queue')
		stock.queue = nil
	end
end

-- Serves the waiters, in order, with what is free. `tells`: less can become free than before, so waiters that can never
-- have their units are told. The waiter `me` is reserved its own for `ttl`, and stock.mine is its fencing token then.
-- If it wants several products, stock.turn says that it may have these.
-- stock.kept: the units of waiters that were told to ask. stock.more: there is more to do than one script does.
local function serve(stock, tells, me, ttl)
	if not stock.queue or stock.more then
		return
	end
	if tells or stock.closed > 0 then
		local from = stock.closed > 0 and WANTS or WANTS + stock.all - stock.sold + 1
		serve_all(stock, redis.call('ZRANGEBYSCORE', stock.pool, from, WANTS + 1e9, 'LIMIT', 0, stock.scan))
	end
	if least(stock) <= stock.free or stock.free > 0 and first_strict(stock) < math.huge then
		local before = stock.left
		stock.left, stock.kept = false, 0
		local blocked = serve_all(stock, first_waiters(stock, stock.scan), me, ttl)
		if not blocked then
			local left = stock.left
			drop_dead_strict(stock, me)
			-- They are enough for none of the first waiters
			if not left and stock.kept == 0 and least(stock) <= stock.free then
				serve_all(stock, fitting(stock), me, ttl)
			end
		end
		stock.left = stock.left or before
		if stock.left and stock.kept == 0 and least(stock) <= stock.free then
			local waiter = first_waiters(stock, 1)[1]
			local id, inbox = string.match(waiter, '(%S+) (%S*)$')
			local _, signs = names_of(waiter)
			tell(id, inbox, redis.call('ZSCORE', stock.pool, signs), 0)
			stock.more = true
		end
	end
	if stock.left then
		note_queue(stock)
	end
end

-- Ends a script on several stocks early: serves the waiters of each with what the script has swept.
local function serve_each(stocks, reply)
	for _, stock in ipairs(stocks) do
		serve(stock)
	end
	return reply
end
