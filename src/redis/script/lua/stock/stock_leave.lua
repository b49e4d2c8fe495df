-- Takes a waiter whose time is over out of the queue.
--
-- keys: stocks...
-- args: dlock_stock_attempt *attempt { id:text limit:count inbox:inbox strict:'s'|'' } several:'m'|'' units:int...
-- It is named by what it gave to stock_reserve.lua, or to stock_basket.lua: several.
-- Replies 1 when it was reserved its units in that instant and has them, 0 when not.
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
