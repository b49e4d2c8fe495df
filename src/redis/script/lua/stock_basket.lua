-- Reserves units of several products, of all or of none. It does not wait, and takes nothing that somebody who waits
-- could have.
--
-- keys: stocks...
-- args: id:text ttl:lease limit:count products:text units:int...
-- id: buyer/order; limit: the most units of each for this buyer; products: their hash; the units of each stock.
-- Replies {1, fencing token, 0, ms left, generation} when it has them all, {2, fencing token, 0, ms ago, generation}
-- when it has bought them; {0, stock} the first one (from 1) that has not enough; {-1, the buyer's units, stock} where
-- the limit forbids it, {-2}: ask again, since there was more to do than one script does; {-4, the order's units,
-- stock, 1 if it has other products}: the order is another one; {-5, 1 closed, 2 ended, 0 no such stock, stock}. An
-- order that is repeated finds what it has, with the time that is left.
-- Cost: O(log n), eight commands for each stock.
--#include permits_clock.lua
--#include stock_pool.lua
local id, ttl, limit, products, us = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], clock(KEYS[1])
local stocks, reserved, bought, fence, left, ago, was = {}, 0, 0, 0, math.huge, 0, 0

-- The reply to an order that may not have its units of this stock; nil: it may.
local function refused(stock, i)
	local buyer = buyer_of(id)
	is_allowed(stock, buyer, stock.wants, limit)
	make_room(stock, stock.wants)
	serve(stock) -- with what was swept
	local may, has, again = is_allowed(stock, buyer, stock.wants, limit)
	if not stock.known or stock.closed > 0 then
		return {-5, stock.closed, i}
	elseif not may then
		return again and {-2} or {-1, has, i}
	end
	local room, more = make_room(stock, stock.wants)
	if not room or not lets_pass(stock) then
		return more and {-2} or {0, i}
	end
end

for i, pool in ipairs(KEYS) do
	local stock = read(pool, us, #KEYS)
	stocks[i], stock.wants = stock, tonumber(ARGV[4 + i])
	sweep(stock, 1)
	local score, units, signature = order_of(stock, id)
	stock.score, stock.units = score, units
	if score > 0 and score < ENDED then
		if signature ~= products or units ~= stock.wants then
			return serve_each(stocks, {-4, units, i, signature ~= products and 1 or 0})
		elseif score < SOLD then
			reserved, left = reserved + 1, math.min(left, math.floor(score) - stock.now)
		else
			bought, ago = bought + 1, math.max(ago, stock.now - math.floor(score % 1e13))
		end
	end
	if score > 0 and (was == 0 or generation_of(score) > generation_of(was)) then
		was = score
	end
end
if reserved == #KEYS or bought == #KEYS then
	for _, stock in ipairs(stocks) do
		fence = math.max(fence, next_token(stock))
	end
	for _, stock in ipairs(stocks) do
		stock.fence = fence
		redis.call('ZADD', stock.pool, -fence, '$fence')
		serve(stock)
	end
	return bought > 0 and {2, fence, 0, ago, generation_of(was)} or {1, fence, 0, left, generation_of(was)}
end
for i, stock in ipairs(stocks) do
	local reply = bought > 0 and {-4, stock.units, i, 1} or not (stock.score > 0 and stock.score < ENDED)
		and refused(stock, i)
	if reply then
		return serve_each(stocks, reply)
	end
	fence = math.max(fence, next_token(stock)) -- above what those who waited were given
end
local generation
for _, stock in ipairs(stocks) do
	-- The others' time was over, by a clock of their own: the whole order begins anew
	if stock.score > 0 and stock.score < SOLD then
		put_back(stock, id, stock.units, state_at(ENDED, stock.now, 0))
	end
	stock.us, stock.fence = fence, fence - 1 -- the same in all
	generation = take(stock, id, stock.wants, ttl, was, products)
	serve(stock)
end
return {1, fence, 0, ttl, generation}
