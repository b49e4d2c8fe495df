-- How many are there? Exact at that moment, and changes nothing: what is over is counted as available, but still its
-- holder's.
--
-- keys: pool
-- args: capacity:count
-- capacity '': its stock.
-- Replies {pieces in all, available, reserved (or held), sold, waiting}.
-- Cost: O(log n), and O(1) for each holder whose lease is over and whose room nobody has needed yet.
--#include permits_clock.lua
--#include permits_pool.lua
local pool = KEYS[1]
local used, stock, sold = unpack(redis.call('ZMSCORE', pool, '$used', '$stock', '$sold'))
used, sold = tonumber(used or 0), tonumber(sold or 0)

local over = 0
local ids = redis.call('ZRANGEBYSCORE', pool, HELD, string.format('(%.0f', math.floor(clock(pool) / 1000)))
for first = 1, #ids, 1000 do
	local names = {}
	for i = first, math.min(first + 999, #ids) do
		names[#names + 1] = 'w' .. string.sub(ids[i], 2)
	end
	for _, permits in ipairs(redis.call('ZMSCORE', pool, unpack(names))) do
		over = over + (permits or 1)
	end
end
local all = tonumber(ARGV[1]) or tonumber(stock or 0)
return {all, all - sold - used + over, used - over, sold, redis.call('ZCOUNT', pool, WAITS, '+inf')}
