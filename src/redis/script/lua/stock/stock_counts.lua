-- Counts units, exactly at that moment.
--
-- keys: stocks...
-- Replies for each stock {state: 0 no such stock, 1 open, 2 closed, 3 ended; available; reserved; sold; waiting; 1: ask
-- again}. Sweeps expired reservations, CHUNK in all at most. If there are more, the caller has to ask again.
-- Cost: O(log n), one command for each stock in which nothing has expired.
--#include permits_clock.lua
--#include stock_pool.lua
local all, us = {}, clock(KEYS[1])
for i, pool in ipairs(KEYS) do
	local stock = read(pool, us, #KEYS)
	sweep(stock, CHUNK)
	serve(stock)
	all[i] = {stock.known and stock.closed + 1 or 0, stock.free, reserved_units(stock), stock.sold,
		stock.queue and redis.call('ZCOUNT', pool, WAITS, string.format('(%.0f', STRICT)) or 0, is_dusty(stock) and 1
			or 0}
end
return all
