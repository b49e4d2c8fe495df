-- Extends a reservation to a time from now on, for all its products or for none. It never becomes shorter.
--
-- keys: stocks...
-- args: dlock_order_ref *order { id:text generation:int products:text } ttl:lease
-- generation '': the last one. products: the hash of several; '': it has one.
-- Replies {1, ms left}; {2, ms left}: it ends no earlier already, and nothing is written; {0, stock, why, ms ago}: why
-- as in stock_confirm.lua, and 7 it is sold.
-- Cost: O(log n), four commands for each stock. The first write needs no memory.
--#include permits_clock.lua
--#include stock_pool.lua
local id, generation, products, ttl, us, stocks, left, reply = ARGV[1], tonumber(ARGV[2]), ARGV[3],
	tonumber(ARGV[4]), clock(KEYS[1]), {}, math.huge, 2
redis.call('PERSIST', KEYS[1])
for i, pool in ipairs(KEYS) do
	local stock, signature = read(pool, us, #KEYS), nil
	stocks[i] = stock
	stock.score, stock.units, signature = order_of(stock, id)
	local score, since = stock.score, stock.now - math.floor(stock.score % 1e13)
	local why = (score == 0 and 0)
		or (signature ~= products and 5)
		or (generation and generation_of(score) ~= generation and 4)
		or (score >= REFUNDED and 3)
		or (score >= CANCELLED and 2)
		or (score >= ENDED and 1)
		or (score >= SOLD and 7)
	if why then
		return serve_each(stocks, {0, i, why, (why == 0 or why > 3) and 0 or since})
	end
end
for _, stock in ipairs(stocks) do
	local score = math.max(stock.score, stock.now + ttl + stock.score % 1)
	if score > stock.score then
		redis.call('ZADD', stock.pool, string.format('%.6f', score), 'h' .. id)
		reply = 1
	end
	left = math.min(left, math.floor(score) - stock.now)
end
return {reply, left}
