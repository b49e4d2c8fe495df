-- Removes a waiter whose time is up from the queue.
--
-- keys: stocks...
-- args: dlock_stock_attempt *attempt { id:text limit:count inbox:inbox strict:'s'|'' } several:'m'|'' units:int...
-- The waiter's name in the queue consists of its words for stock_reserve.lua, or, with `several`, for stock_basket.lua.
-- Replies 1 if its units were reserved in that instant and it has them, otherwise 0.
-- Cost: O(log n), five commands for each stock.
--#include permits_clock.lua
--#include stock_pool.lua
local us, has = clock(KEYS[1]), 1
for i, pool in ipairs(KEYS) do
	local stock = read(pool, us, #KEYS)
	redis.call('ZREM', pool, names_of(string.format('q%s %s %s%s %s %s', ARGV[5 + i], ARGV[2], ARGV[4], ARGV[5],
		ARGV[1], ARGV[3])))
	stock.left = true
	order_of(stock, ARGV[1])
	serve(stock)
	note_queue(stock)
	local score = order_of(stock, ARGV[1])
	has = score > 0 and score < ENDED and has or 0
end
return has
