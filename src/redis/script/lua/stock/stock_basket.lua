-- Reserves units of several products, all of an order or none, and no units that a waiter could have. Otherwise it
-- waits, if an inbox is given, in the queue of the first product that it lacks. A waiter repeats the script when it is
-- told to, and as its sign of life.
--
-- keys: stocks...
-- args: dlock_stock_attempt *attempt { id:text ttl:lease limit:count inbox:inbox ticket:int number:int strict:'s'|'' }
-- args: products:text units:int...
-- The words of an attempt are as in stock_reserve.lua. products: the hash of their names. units: those of each stock.
-- Replies:
--   {1, fencing token, 0, ms left, generation}: all units are reserved
--   {2, fencing token, 0, ms ago, generation}: they are sold
--   {0, stock}: the first stock (from 1) that has not enough
--   {0, stock, ms until units may come, place in the queue, ticket, 1 if it was in no queue before}: it waits there
--   {-1, the buyer's units, stock}: the limit forbids it
--   {-2, ticket}: ask again, because there was more to do than one script does
--   {-3}: it was cancelled while it waited
--   {-4, the order's units, stock, 1 if it has other products}: the name is another order's
--   {-5, 1 closed, 2 ended, 0 no such stock, stock}
--
-- A repeated order finds what it has, with the time that is left. Cost: O(log n), eight commands for each stock, and
-- four for each waiter that it looks at.
--#include permits_clock.lua
--#include stock_pool.lua
local id, ttl, limit, inbox, ticket, products, us = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4],
	tonumber(ARGV[5]), ARGV[8], clock(KEYS[1])
local waits, buyer, waited = inbox ~= '', buyer_of(id), false
local stocks, was = {}, 0

-- Returns the order's token, or ticket: the highest of its products. If clocks were set back by more for one product
-- than for another, their times differ. Then the tokens of the product that is behind go ahead of its time. That time
-- stays as it is, because its reservations would end early.
local function one_token()
	local fence = 0
	for _, stock in ipairs(stocks) do
		fence = math.max(fence, next_token(stock))
	end
	for _, stock in ipairs(stocks) do
		local by = fence - next_token(stock)
		if by > 1000 then
			stock.ahead = stock.ahead + by
			redis.call('ZADD', stock.pool, -stock.ahead, '$ahead', -stock.shift, '$shift')
		end
		stock.fence = fence
		redis.call('ZADD', stock.pool, -fence, '$fence')
	end
	return fence
end

-- Queues the order at a stock, or notes that it is alive, as stock_reserve.lua does. It has one ticket for all stocks.
local function enqueue(stock)
	local place, signs, wish, strict = names_of(stock.waiter)
	if ticket == 0 then
		for _, other in ipairs(stocks) do
			ask_anew(other, id, other.score)
		end
		ticket = one_token()
	end
	local added = redis.call('ZADD', stock.pool, 'LT', ticket, place, -stock.now * 1000 - ARGV[6] % 1000, signs,
		WANTS + stock.wants, wish, -1, '$queue')
	if ARGV[7] ~= '' then
		redis.call('ZADD', stock.pool, 'LT', ticket + STRICT - WAITS, strict)
	end
	stock.queue, waited = true, waited or added < 3
end

-- The order leaves all queues, except that of the stock `at`. What it leaves, and what was swept, is for the waiters.
local function leave(reply, at)
	for i, stock in ipairs(stocks) do
		if waits and i ~= at and stock.queue and redis.call('ZREM', stock.pool, names_of(stock.waiter)) > 0 then
			stock.left = true
		end
		if i ~= at then
			serve(stock)
		end
		if stock.left then
			note_queue(stock)
		end
	end
	return reply
end

local function again()
	return {-2, string.format('%.0f', ticket)}
end

-- Returns the reply to an order that may not have its units of this stock; nil: it may, or has to wait (stock.lacks).
local function refused(stock, i)
	local possible = stock.wants <= stock.all - stock.sold
	is_allowed(stock, buyer, stock.wants, limit)
	make_room(stock, stock.wants)
	if waits and possible and stock.queue then
		enqueue(stock)
	end
	serve(stock, false, stock.waiter) -- with what was swept
	local may, has, unsure = is_allowed(stock, buyer, stock.wants, limit)
	if not stock.known or stock.closed > 0 then
		return {-5, stock.closed, i}
	elseif not may then
		return unsure and again() or {-1, has, i}
	end
	local room, more = make_room(stock, stock.wants)
	if not room or not (stock.turn or lets_pass(stock)) then
		if more or waits and stock.more then
			return again()
		elseif not waits or not possible then
			return {0, i}
		end
		stock.lacks = true
	end
end

for i, pool in ipairs(KEYS) do
	local stock = read(pool, us, #KEYS)
	stocks[i], stock.wants = stock, tonumber(ARGV[8 + i])
	stock.waiter = waits and string.format('q%s %s %sm %s %s', ARGV[8 + i], ARGV[3], ARGV[7], id, inbox)
end
local reserved, bought, fence, left, ago = 0, 0, 0, math.huge, 0
for i, stock in ipairs(stocks) do
	sweep(stock, 1)
	local score, units, signature = order_of(stock, id)
	stock.score, stock.units = score, units
	if score > 0 and score < ENDED then
		if signature ~= products or units ~= stock.wants then
			return leave({-4, units, i, signature ~= products and 1 or 0})
		elseif score < SOLD then
			reserved, left = reserved + 1, math.min(left, math.floor(score) - stock.now)
		else
			bought, ago = bought + 1, math.max(ago, stock.now - math.floor(score % 1e13))
		end
	elseif ticket > 0 and is_settled(score) then
		return leave({-3})
	end
	if score > 0 and (was == 0 or generation_of(score) > generation_of(was)) then
		was = score
	end
end
if reserved == #KEYS or bought == #KEYS then
	fence = one_token()
	return leave(bought > 0 and {2, fence, 0, ago, generation_of(was)} or {1, fence, 0, left, generation_of(was)})
end
local at
for i, stock in ipairs(stocks) do
	local reply = bought > 0 and {-4, stock.units, i, 1} or not (stock.score > 0 and stock.score < ENDED)
		and refused(stock, i)
	if reply then
		return reply[1] == -2 and reply or leave(reply)
	end
	at = at or stock.lacks and i
end
if at then
	local stock = stocks[at]
	enqueue(stock)
	return leave({0, at, may_come(stock), redis.call('ZCOUNT', stock.pool, WAITS, string.format('(%.0f', ticket)),
		string.format('%.0f', ticket), waited and 0 or 1}, at)
end
fence = one_token() -- above the tokens that waiters were given
local generation
for _, stock in ipairs(stocks) do
	-- Other parts of the order have expired by clocks of their own: the whole order begins anew
	if stock.score > 0 and stock.score < SOLD then
		put_back(stock, id, stock.units, state_at(ENDED, stock.now, 0))
	end
	stock.fence = fence - 1 -- take() then gives all of them the same token
	generation = take(stock, id, stock.wants, ttl, was, products)
end
return leave({1, fence, 0, ttl, generation})
