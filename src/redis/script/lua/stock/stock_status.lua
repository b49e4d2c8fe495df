-- Shows the state of an order. Writes nothing.
--
-- keys: stocks...
-- args: id:text
-- Replies for each stock {state: 0 none, 1 reserved, 2 ended, 3 sold, 4 cancelled, 5 refunded; units; ms left, or since
-- it became so; generation; the hash of its products; when it ends or became so, in ms}. Cost: O(1), one command for
-- each stock.
--#include permits_clock.lua
local all, us = {}, clock(KEYS[1])
for i, pool in ipairs(KEYS) do
	local score, units, products, shift = unpack(redis.call('ZMSCORE', pool, 'h' .. ARGV[1], 'w' .. ARGV[1],
		'a' .. ARGV[1], '$shift'))
	score = tonumber(score or 0)
	local now = math.floor(us / 1000) - (shift or 0)
	local state = (score == 0 and 0) or (score < 1e13 and (score >= now and 1 or 2)) or ({ 3, 2, 4,
		5 })[math.floor(score / 1e13)]
	all[i] = {state, tonumber(units or (score > 0 and 1 or 0)), score > 0 and math.abs(math.floor(score % 1e13) - now)
		or 0,
		math.floor(score % 1 * 64), products or '', math.floor(score % 1e13)}
end
return all
