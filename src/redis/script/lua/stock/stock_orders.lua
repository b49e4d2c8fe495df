-- Lists a page of the orders of a product, by their states: reserved (by their end), sold, ended, cancelled, refunded
-- (by when they became so). Writes nothing.
--
-- keys: stock
-- args: from:text to:text after:text buyer:text limit:int
-- Orders numbered from `from` to below `to`; of those with the number `from`, only orders after `after` ('': all).
-- buyer: whose orders ('': all). At most `limit`.
-- Replies {{order, its number, units, ms left of a reservation}, …}. The last element is the number and the name after
-- which the next page begins, if there is one. A page may be short, or empty, because a script looks at LOOKS orders at
-- most.
-- Cost: O(log n), and O(1) for each order that it looks at.
--#include permits_clock.lua
local LOOKS = 250
local pool, last, buyer, most = KEYS[1], ARGV[3], ARGV[4], tonumber(ARGV[5])
local page, now = {}, math.floor(clock(pool) / 1000) - (redis.call('ZSCORE', pool, '$shift') or 0)
local found = redis.call('ZRANGEBYSCORE', pool, ARGV[1], '(' .. ARGV[2], 'WITHSCORES', 'LIMIT', 0, LOOKS)
local from = tonumber(ARGV[1])
local place

-- Compares bytes, by which Redis orders names. Lua would compare them as the language of the server's locale does.
local function is_behind(id)
	for i = 1, #id do
		local a, b = string.byte(id, i), string.byte(last, i)
		if a ~= b then
			return not b or a > b
		end
	end
	return false
end

for i = 1, #found, 2 do
	local held, score = found[i], found[i + 1]
	local id = string.sub(held, 2)
	if last == '' or tonumber(score) > from or is_behind(id) then
		if buyer == '' or string.sub(id, 1, #buyer + 1) == buyer .. '/' then
			page[#page + 1] = {id, score, tonumber(redis.call('ZSCORE', pool, 'w' .. id) or 1), math.floor(score) - now}
		end
	end
	place = {score, id}
	if #page == most then
		break
	end
end
if place and (#page == most or #found == 2 * LOOKS) then
	page[#page + 1] = place
end
return page
