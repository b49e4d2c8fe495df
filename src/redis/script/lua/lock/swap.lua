-- Included in scripts that give a held lock another token; never sent by itself.

--#include fencing.lua
--#include failure.lua
-- exchange.lua says what it replies.
local function swap(lock, fence, old, new, least)
	local holder, pttl = redis.call('GET', lock), redis.call('PTTL', lock)

	if pttl < 1 or (holder ~= old and holder ~= new) then
		return {0}
	end
	if least == '0' then
		least = clock()
	end
	redis.call('SET', lock, new, 'PX', pttl) -- KEEPTTL came with Redis 6
	local done, token = true, 0
	if least ~= '' then
		done, token = pcall(fencing_token, fence, least)
	end
	if not done then
		redis.call('SET', lock, holder, 'PX', pttl)
		return failure(token)
	end
	return {1, tonumber(token), pttl}
end
