-- Included in scripts on permits and stocks; never sent by itself.

-- The server's time in us. If the user may not run TIME, the key's own end tells it. A stock has no end, and gets one
-- for the moment. A time outside 2001 to 2128 would put numbers into wrong ranges (permits_pool.lua).
local function clock(pool)
	local now, us = redis.pcall('TIME'), nil
	if not now.err then
		us = now[1] * 1000000 + now[2]
	else
		--#include clock_of.lua
		local endless = redis.call('PTTL', pool) == -1
		us = tonumber(clock_of(pool, now.err))
		if endless then
			redis.call('PERSIST', pool)
		end
	end
	if us < 1e15 or us >= 5e15 then
		error('permits need a clock between the years 2001 and 2128; this server has another', 0)
	end
	return us
end
