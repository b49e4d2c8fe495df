-- Opens or closes the sale of a product, or ends it for good. While it is closed, nothing is reserved, and reservations
-- can be confirmed. After its end, only reservations that have not expired can be.
--
-- keys: stock
-- args: sale:int
-- sale: 0 open, 1 closed, 2 ended.
-- Replies what it is then; 3: there is no such stock. Cost: O(log n).
--#include permits_clock.lua
--#include stock_pool.lua
local stock, state = read(KEYS[1], clock(KEYS[1]), 1), tonumber(ARGV[1])
if stock.closed == 2 or not stock.known then
	return stock.known and 2 or 3
end
stock.closed = state
redis.call('ZREM', KEYS[1], state == 0 and '$closed' or '$full')
if state > 0 then
	redis.call('ZADD', KEYS[1], state, '$closed')
end
serve(stock)
return state
