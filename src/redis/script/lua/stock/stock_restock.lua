-- Puts units into a stock, or takes out units that are neither reserved nor sold.
--
-- keys: stock
-- args: units:int change:text remember:ms
-- units: put in, up to the most that a stock may have; less than 0: taken out, up to the units that there are. change:
-- its name. remember: for how long expired and cancelled orders are remembered; 0: for a day.
-- Replies {by how many units the stock has changed, its units in all: available, reserved and sold}; {'again'}: ask
-- again, because there was more to do than one script does. A change is made once; repeated, it replies what it was.
-- The new units serve waiters. Cost: O(log n).
--#include permits_clock.lua
--#include stock_pool.lua
local MOST = 999999999 -- $stock stays out of the ranges of reservations
local pool, change, name = KEYS[1], tonumber(ARGV[1]), 'r' .. ARGV[2]
local stock = read(pool, clock(pool), 1)
local made = redis.call('ZSCORE', pool, name)
if made then
	return {tonumber(made), stock.all}
end
if change < 0 then
	local _, again = make_room(stock, -change)
	if again then
		return {'again'}
	end
	change = math.max(change, -math.max(0, stock.free))
else
	change = math.max(0, math.min(change, MOST - stock.all))
end
stock.all, stock.free = stock.all + change, stock.free + change
redis.call('ZREM', pool, '$full')
redis.call('ZADD', pool, stock.all, '$stock', stock.free, '$free', change, name)
if ARGV[3] == '0' then
	redis.call('ZREM', pool, '$remember')
else
	redis.call('ZADD', pool, ARGV[3], '$remember')
end
redis.call('PERSIST', pool)
serve(stock, change < 0)
return {change, stock.all}
