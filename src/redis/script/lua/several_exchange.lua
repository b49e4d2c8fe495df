-- Gives these held locks another token, for the lease time that is left: the old one holds none of them any longer.
--
-- keys: locks...
-- args: old:text new_token:text least_fencing_token:int
-- As in several_acquire.lua and exchange.lua.
-- Replies as exchange.lua, with the least ms left; {0} when a part is neither's. Cost: O(n) for n locks.
--#include fencing.lua
--#include failure.lua
local old, new, least = ARGV[1], ARGV[2], ARGV[3]
local holders, left, shortest = {}, {}, nil
for i = 1, #KEYS - 1, 3 do
	local holder, pttl = redis.call('GET', KEYS[i]), redis.call('PTTL', KEYS[i])
	if pttl < 1 or (holder ~= old and holder ~= new) then
		return {0}
	end
	holders[i], left[i], shortest = holder, pttl, math.min(shortest or pttl, pttl)
end

local done, token = pcall(function()
	for i = 1, #KEYS - 1, 3 do
		redis.call('SET', KEYS[i], new, 'PX', left[i])
	end
	return least == '' and 0 or fencing_token(KEYS[#KEYS], least == '0' and clock() or least)
end)
if not done then
	for i = 1, #KEYS - 1, 3 do
		redis.pcall('SET', KEYS[i], holders[i], 'PX', left[i])
	end
	return failure(token)
end
return {1, tonumber(token), shortest}
