-- Included in scripts that give held locks another token; never sent by itself.

--#include fencing.lua
--#include failure.lua
-- several_exchange.lua says what it replies.
local function swap_all(n, fence, old, new, least)
	local holders, left, shortest = {}, {}, nil
	for i = 1, n, 3 do
		local holder, pttl = redis.call('GET', KEYS[i]), redis.call('PTTL', KEYS[i])
		if pttl < 1 or (holder ~= old and holder ~= new) then
			return {0}
		end
		holders[i], left[i], shortest = holder, pttl, math.min(shortest or pttl, pttl)
	end

	local done, token = pcall(function()
		for i = 1, n, 3 do
			redis.call('SET', KEYS[i], new, 'PX', left[i])
		end
		return least == '' and 0 or fencing_token(fence, least == '0' and clock() or least)
	end)
	if not done then
		for i = 1, n, 3 do
			redis.pcall('SET', KEYS[i], holders[i], 'PX', left[i])
		end
		return failure(token)
	end
	return {1, tonumber(token), shortest}
end
