-- Included where fencing tokens are given out; never sent by itself.

local function clock()
	local now = redis.call('TIME')
	return now[1] * 1000000 + now[2]
end

-- The next fencing token, at least `least`. The server's time, given as that, keeps the tokens rising where the last one was
-- lost, or came back old, with the server's data; the last one keeps them rising where the clock went back.
-- (Below 2^53 Redis writes a number argument as the integer that it is.)
local function fencing_token(fence, least)
	local last = redis.call('GETSET', fence, least)
	if last and tonumber(last) >= least then
		least = last + 1
		redis.call('SET', fence, least)
	end
	return least
end
