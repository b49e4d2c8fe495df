-- Included after permits_clock.lua in scripts on stocks, after their fast paths; never sent by itself.
--
-- The stock of one product is one sorted set of names and numbers. The ranges of the numbers keep apart what scripts
-- look for in order:
--
--   negative        $fence      minus the last fencing token, or ticket, that was given out
--                   $next       minus a time in ms before which no reservation ends (a lower bound; none: nothing is
--                               reserved)
--                   $full       a time before which nothing is free, and when that was noted; 0: not before units come.
--                               See stock_reserve.lua
--                   $queue      orders wait
--                   $ahead      minus the us by which its tokens are ahead of its time, if orders had products with
--                               different clocks; there is a $shift then, of 0 maybe
--                   $shift      minus the ms by which its time is ahead of the server's clock, which was set back
--                   s<waiter>   minus its last sign of life: the time in ms * 1000 + the number of that request, modulo
--                               1000
--   small           $stock      the units that were ever put in         $sold   those of them that are sold
--                   $free       those of them that are neither sold nor of a reservation that is not swept
--                   $closed     1: the sale is closed, 2: it has ended
--                   $remember   for how many ms expired and cancelled orders are remembered, if that is not a day
--                   w<id>       the units of that order, if they are not 1
--                   a<id>       of an order of several products: a hash of their names, 36 bits
--                   b<buyer>    the units that the buyer has reserved or bought
--                   r<name>     a change of the stock that was made
--   from HELD on    h<id>       an order: its state, and when that began; of a reservation when it ends, in ms. The
--                               64ths behind the point are its generation: how often the name was reserved anew. Half
--                               a 64th: it was cancelled or refunded, and a later request waits
--   from WANTS on   u<waiter>   WANTS + the units that a waiter wants
--   from WAITS on   q<waiter>   a waiter: its ticket, in us
--   from STRICT on  v<waiter>   a waiter that no order may pass: its ticket + STRICT - WAITS
--
-- A waiter is "units limit flags id inbox": all that is needed to serve it. The flags are s: strict, m: it wants other
-- products as well. The id of an order is its buyer, a slash, and its name. The ranges hold for a clock between 2001
-- and 2128.
--
-- An expired reservation holds nothing. sweep() adds its units to $free, the oldest reservation first, each once. The
-- order stays, and can still be confirmed as long as units are free. So it does not matter when and by which script it
-- is swept, and no script sweeps more than CHUNK.
local HELD, SOLD, ENDED, CANCELLED, REFUNDED, WANTS, WAITS, STRICT = 1e11, 1e13, 2e13, 3e13, 4e13, 1e14, 1e15, 5e15

-- How many expired reservations each script sweeps if it finds any, and how many one script sweeps at most.
local AMORTISED = 4
local CHUNK = 50
-- The waiters that one script looks at in their order, and again of those for which the free units are enough.
local SCAN = 16
-- Of how many waiters behind them it reads what they want, in pages of PAGE.
local FAR, PAGE = 1000, 100

-- In ms, as in handover.lua. A waiter gives a sign of life about every 2 s. STALE after the last one it counts as dead.
-- A grant that is not accepted lasts for GRACE, which is no shorter. REMEMBER is a day.
local STALE, GRACE, REMEMBER = 3000, 3000, 86400000

local function units_of(number)
	return tonumber(number or 1)
end

local function generation_of(score)
	return math.floor(score % 1 * 64)
end

-- An order's state as a number.
local function state_at(from, ms, generation)
	return string.format('%.6f', from + ms + generation / 64)
end

local function buyer_of(id)
	return string.match(id, '^(.*)/')
end

-- The units of reservations that are not swept.
local function reserved_units(stock)
	return stock.all - stock.sold - stock.free
end

-- What a script knows of a stock: the numbers as they are now. `us` and `now`: its time in us and in ms. `count`: the
-- number of stocks that share what one script may do.
local function read(pool, us, count)
	local n = redis.call('ZMSCORE', pool, '$stock', '$sold', '$free', '$fence', '$next', '$shift', '$queue', '$closed',
		'$ahead')
	local stock = { pool = pool, known = n[1] and true, all = tonumber(n[1] or 0), sold = tonumber(n[2] or 0),
		free = tonumber(n[3] or 0), fence = -(n[4] or 0), next = n[5] and -n[5],
		shift = -(n[6] or 0), queue = n[7], closed = tonumber(n[8] or 0), ahead = -(n[9] or 0),
		budget = math.ceil(CHUNK / count), scan = math.ceil(SCAN / count), kept = 0 }
	stock.us = us + stock.shift * 1000
	local seen = stock.fence - stock.ahead
	if stock.us < seen - 1e6 then -- the clock was set back: the stock's time goes on from where it was last seen
		stock.shift = stock.shift + math.ceil((seen - stock.us) / 1000)
		stock.us = us + stock.shift * 1000
		redis.call('ZREM', pool, '$full')
		redis.call('ZADD', pool, -stock.shift, '$shift')
	end
	stock.now = math.floor(stock.us / 1000)
	return stock
end

local function next_token(stock)
	return math.max(stock.us + stock.ahead, stock.fence + 1)
end

-- ---- what becomes free ----

-- Takes these units off what the buyers of these orders have.
local function credit(pool, ids, units)
	local names, back, gone, left = {}, {}, {}, {}
	for i, id in ipairs(ids) do
		local name = 'b' .. buyer_of(id)
		if not back[name] then
			names[#names + 1] = name
		end
		back[name] = (back[name] or 0) + units[i]
	end
	for i, has in ipairs(redis.call('ZMSCORE', pool, unpack(names))) do
		has = (has or 0) - back[names[i]]
		if has > 0 then
			left[#left + 1] = has
			left[#left + 1] = names[i]
		else
			gone[#gone + 1] = names[i]
		end
	end
	if #gone > 0 then
		redis.call('ZREM', pool, unpack(gone))
	end
	if #left > 0 then
		redis.call('ZADD', pool, unpack(left))
	end
end

-- Forgets orders that expired or were cancelled long ago, the oldest first.
local function forget_orders(stock, most)
	local before = stock.now - (redis.call('ZSCORE', stock.pool, '$remember') or REMEMBER)
	for _, from in ipairs({ ENDED, CANCELLED }) do
		local names = {}
		for _, held in ipairs(redis.call('ZRANGEBYSCORE', stock.pool, from, string.format('(%.0f', from + before),
			'LIMIT', 0, most)) do
			local id = string.sub(held, 2)
			names[#names + 1] = held
			names[#names + 1] = 'w' .. id
			names[#names + 1] = 'a' .. id
		end
		if #names > 0 then
			redis.call('ZREM', stock.pool, unpack(names))
		end
	end
end

-- Notes when the first reservation expires.
local function note_next(stock)
	local first = redis.call('ZRANGEBYSCORE', stock.pool, HELD, '(1e13', 'WITHSCORES', 'LIMIT', 0, 1)[2]
	stock.next = first and math.floor(first)
	if first then
		redis.call('ZADD', stock.pool, -stock.next, '$next')
	else
		redis.call('ZREM', stock.pool, '$next')
	end
end

-- May there be expired reservations that are not swept?
local function is_dusty(stock)
	return stock.next and stock.next < stock.now
end

-- Moves the units of at most `most` expired reservations to what is free. ZREM goes first: if no memory is left, only a
-- script that has already written may go on to writes that need some.
local function sweep(stock, most)
	most = math.min(most, stock.budget)
	if not is_dusty(stock) or most <= 0 then
		return
	end
	local found = redis.call('ZRANGEBYSCORE', stock.pool, HELD,
		string.format('(%.0f', stock.now), 'WITHSCORES', 'LIMIT', 0, most)
	local ids, names, changes, freed = {}, {}, {}, 0
	for i = 1, #found, 2 do
		ids[#ids + 1] = string.sub(found[i], 2)
		names[#names + 1] = 'w' .. ids[#ids]
		changes[#changes + 1] = string.format('%.6f', ENDED + found[i + 1])
		changes[#changes + 1] = found[i]
	end
	if #names > 0 then
		local units = redis.call('ZMSCORE', stock.pool, unpack(names))
		for i = 1, #ids do
			units[i] = units_of(units[i])
			freed = freed + units[i]
		end
		stock.free = stock.free + freed
		redis.call('ZREM', stock.pool, '$full')
		redis.call('ZADD', stock.pool, stock.free, '$free', unpack(changes))
		credit(stock.pool, ids, units)
		forget_orders(stock, #names)
	end
	stock.budget = stock.budget - #names
	if #names < most then
		note_next(stock)
	end
end

-- Are this many units free? Sweeps for them. The second result: more may become free than one script may sweep, so the
-- caller has to ask again.
local function make_room(stock, units)
	if units > stock.free then
		sweep(stock, CHUNK)
	end
	local enough = units <= stock.free
	return enough, not enough and is_dusty(stock)
end

-- May the buyer have these units, too? Sweeps for what it has reserved itself. Also returns how many units it has, and
-- whether the caller has to ask again.
local function is_allowed(stock, buyer, units, limit)
	if not limit then
		return true
	end
	local has = tonumber(redis.call('ZSCORE', stock.pool, 'b' .. buyer) or 0)
	if has > 0 and has + units > limit and is_dusty(stock) then
		sweep(stock, CHUNK)
		has = tonumber(redis.call('ZSCORE', stock.pool, 'b' .. buyer) or 0)
	end
	local may = has + units <= limit
	return may, has, not may and has > 0 and is_dusty(stock)
end

-- Makes the units of a reserved order available again, and gives it this state.
local function put_back(stock, id, units, state)
	stock.free = stock.free + units
	redis.call('ZREM', stock.pool, '$full')
	redis.call('ZADD', stock.pool, stock.free, '$free', state, 'h' .. id)
	credit(stock.pool, {id}, {units})
end

-- Returns an order: its state as a number (0: none), its units, and the hash of its products. An expired order is swept
-- at once, so nothing that a client sees depends on when it is swept.
local function order_of(stock, id)
	local score, units, products = unpack(redis.call('ZMSCORE', stock.pool, 'h' .. id, 'w' .. id, 'a' .. id))
	score, units = tonumber(score or 0), units_of(units)
	if score > 0 and score < SOLD and score < stock.now then
		put_back(stock, id, units, string.format('%.6f', ENDED + score))
		score = ENDED + score
	end
	return score, units, products or ''
end

-- ---- what is reserved ----

-- Reserves units that there is room for. `was`: the order's state before, 0: none. Returns its generation.
local function take(stock, id, units, ttl, was, products)
	local generation, ends = was > 0 and (generation_of(was) + 1) % 64 or 0, stock.now + ttl
	stock.fence, stock.free = next_token(stock), stock.free - units
	redis.call('ZADD', stock.pool, stock.free, '$free', -stock.fence, '$fence', state_at(0, ends, generation),
		'h' .. id)
	redis.call('ZINCRBY', stock.pool, units, 'b' .. buyer_of(id))
	if units ~= 1 then
		redis.call('ZADD', stock.pool, units, 'w' .. id)
	elseif was > 0 then
		redis.call('ZREM', stock.pool, 'w' .. id)
	end
	if products ~= '' then
		redis.call('ZADD', stock.pool, products, 'a' .. id)
	elseif was > 0 then
		redis.call('ZREM', stock.pool, 'a' .. id)
	end
	if not stock.next or ends < stock.next then
		stock.next = ends
		redis.call('ZADD', stock.pool, -ends, '$next')
	end
	return generation
end

--#include stock_queue.lua
