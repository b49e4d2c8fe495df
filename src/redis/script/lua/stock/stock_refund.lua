-- Refunds what was sold: all of an order, or a part of an order of one product. The units are for sale again, or gone.
--
-- keys: stocks...
-- args: dlock_order_ref *order { id:text generation:int products:text } restock:'1'|'0' units:count change:text
-- restock: the units are for sale again; '0': they are gone. units '': all. change: the name of a partial refund, which
-- is made once.
-- Replies:
--   {1, units left}: it is refunded now
--   {2, ms ago}: all of it was refunded before
--   {3, units}: the change was made before, and nothing is written
--   {0, stock, why, the order's units}: 0 nothing has that name, 4 another generation, 5 other products, 8 it is not
--     sold, 9 it has fewer units
--
-- Cost: O(log n), six commands for each stock.
--#include permits_clock.lua
--#include stock_pool.lua
local id, generation, products, us, stocks, ago = ARGV[1], tonumber(ARGV[2]), ARGV[3], clock(KEYS[1]), {}, 0
local made = ARGV[5] ~= '' and 'r' .. id .. '/' .. ARGV[6]
local before = made and redis.call('ZSCORE', KEYS[1], made)
if before then
	return {3, tonumber(before)}
end

for i, pool in ipairs(KEYS) do
	local stock, signature = read(pool, us, #KEYS), nil
	stocks[i] = stock
	stock.score, stock.units, signature = order_of(stock, id)
	stock.back = tonumber(ARGV[5]) or stock.units
	local why = (stock.score == 0 and 0)
		or (signature ~= products and 5)
		or (generation and generation_of(stock.score) ~= generation and 4)
		or ((stock.score < SOLD or stock.score >= ENDED and (stock.score < REFUNDED or made)) and 8)
		or (stock.back > stock.units and 9)
	if why then
		return serve_each(stocks, {0, i, why, stock.units})
	elseif stock.score >= REFUNDED then
		ago = math.max(ago, stock.now - math.floor(stock.score % 1e13))
	end
end
local reply, left = 2, ago
for _, stock in ipairs(stocks) do
	if stock.score < ENDED then
		reply, left = 1, stock.units - stock.back
		stock.sold = stock.sold - stock.back
		if ARGV[4] == '1' then
			stock.free = stock.free + stock.back
		else
			stock.all = stock.all - stock.back
		end
		redis.call('ZREM', stock.pool, '$full')
		redis.call('ZADD', stock.pool, stock.sold, '$sold', stock.all, '$stock', stock.free, '$free')
		if left == 0 then
			redis.call('ZADD', stock.pool, state_at(REFUNDED, stock.now, generation_of(stock.score)), 'h' .. id)
		elseif left == 1 then
			redis.call('ZREM', stock.pool, 'w' .. id)
		else
			redis.call('ZADD', stock.pool, left, 'w' .. id)
		end
		if made then
			redis.call('ZADD', stock.pool, stock.back, made)
		end
		credit(stock.pool, {id}, {stock.back})
		serve(stock)
	end
end
return {reply, left}
