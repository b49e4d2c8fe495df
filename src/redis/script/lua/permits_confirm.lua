-- Buys what was reserved: the pieces are gone for good. Of all stocks, or of none.
--
-- keys: stocks...
-- args: id:text
-- Replies {1, 0} when it is bought now, {2, 0} when it was before, {3, 0} when it is bought now and the lease was over,
-- but nobody had needed the pieces; {0, the first stock (from 1) that has nothing reserved under this id: cancelled, or
-- given to others}. Cost: O(log n), three commands for each stock. The first write needs no memory: a buyer who has
-- paid gets it where there is none left.
--#include permits_clock.lua
local SOLD = 1e13 -- as in permits_pool.lua
local id, now, found, reply = ARGV[1], math.floor(clock(KEYS[1]) / 1000), {}, 2
for i, pool in ipairs(KEYS) do
	local ends, pieces, used, sold = unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id, '$used', '$sold'))
	if not ends then
		return {0, i}
	end
	found[i] = { ends = tonumber(ends), used = used - (pieces or 1), sold = (sold or 0) + (pieces or 1) }
end
for i, pool in ipairs(KEYS) do
	local stock = found[i]
	if stock.ends < SOLD then
		reply = (stock.ends < now or reply == 3) and 3 or 1
		redis.call('PERSIST', pool)
		redis.call('ZADD', pool, stock.used, '$used', stock.sold, '$sold', SOLD + now, 'h' .. id)
	end
end
return {reply, 0}
