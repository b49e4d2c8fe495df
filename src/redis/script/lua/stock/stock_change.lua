-- Changes the numbers of units of a reservation, all or none of them. The time that is left stays.
--
-- keys: stocks...
-- args: dlock_order_ref *order { id:text generation:int products:text } limit:count units:int...
-- generation '': the last one. products: the hash of several; '': it has one. limit: the most units of each product for
-- this buyer. units: those of each stock.
-- Replies:
--   {1, ms left}: it is changed now
--   {2, ms left}: it has these units already, and nothing is written
--   {0, stock, why, ms ago}: why as in stock_confirm.lua, and 7 it is sold, 10 there are not enough units; with 6 the
--     buyer's units in place of ms
--   {-2}: ask again, because there was more to do than one script does
--
-- If the order has these units already, it is accepted even if it has expired or is sold. So a request that is sent
-- again after a lost reply finds what it has done. Cost: O(log n), seven commands for each stock.
--#include permits_clock.lua
--#include stock_pool.lua
local id, generation, products, limit, us, stocks, left = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]),
	clock(KEYS[1]), {}, math.huge
local same = true -- the order has these units already
for i, pool in ipairs(KEYS) do
	local stock = read(pool, us, #KEYS)
	stocks[i] = stock
	stock.score, stock.units, stock.products = order_of(stock, id)
	stock.delta = tonumber(ARGV[4 + i]) - stock.units
	same = same and stock.delta == 0
end
for i, stock in ipairs(stocks) do
	local score, since = stock.score, stock.now - math.floor(stock.score % 1e13)
	local why = (score == 0 and 0)
		or (stock.products ~= products and 5)
		or (generation and generation_of(score) ~= generation and 4)
		or (score >= REFUNDED and 3)
		or (score >= CANCELLED and 2)
		or (score >= ENDED and 1)
		or (score >= SOLD and 7)
	if why and not (same and (why == 1 or why == 7)) then
		return serve_each(stocks, {0, i, why, (why == 0 or why > 3) and 0 or since})
	end
	if stock.delta > 0 then
		is_allowed(stock, buyer_of(id), stock.delta, limit)
		make_room(stock, stock.delta)
		serve(stock) -- with what was swept
		local may, has, again = is_allowed(stock, buyer_of(id), stock.delta, limit)
		local room, more = make_room(stock, stock.delta)
		if not may then
			return serve_each(stocks, again and {-2} or {0, i, 6, has})
		elseif not room or not lets_pass(stock) then
			return serve_each(stocks, more and {-2} or {0, i, 10, 0})
		end
	end
	left = math.min(left, why and 0 or math.floor(score) - stock.now)
end
for _, stock in ipairs(stocks) do
	local units = stock.units + stock.delta
	if stock.delta ~= 0 then
		stock.free = stock.free - stock.delta
		redis.call('ZREM', stock.pool, '$full')
		redis.call('ZADD', stock.pool, stock.free, '$free')
		redis.call('ZINCRBY', stock.pool, stock.delta, 'b' .. buyer_of(id))
		if units == 1 then
			redis.call('ZREM', stock.pool, 'w' .. id)
		else
			redis.call('ZADD', stock.pool, units, 'w' .. id)
		end
		serve(stock)
	end
end
return same and serve_each(stocks, {2, left}) or {1, left}
