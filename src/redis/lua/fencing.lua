-- Included where fencing tokens are given out; never sent by itself.

local function clock()
	local now = redis.call('TIME')
	return now[1] * 1000000 + now[2]
end

-- The most that any clock proposes: 2^52, which in us is the year 2112. A clock that is further ahead brings the fence to that, and no
-- nearer to 2^53, the limit of exact numbers: from there it rises by one each time, for ever.
local MOST_PROPOSED = 4503599627370496

-- The next fencing token, at least `least`. The server's time, given as that, keeps the tokens rising where the last one was
-- lost, or came back old, with the server's data; the last one keeps them rising where the clock went back.
-- The caller has used SET before: were that found to be forbidden here, the fence would have been lowered.
-- (Below 2^53 Redis writes a number argument as the integer that it is.)
local function fencing_token(fence, least)
	if least > MOST_PROPOSED then
		least = MOST_PROPOSED
	elseif least < 1 then
		least = 1
	end
	local last = redis.call('GETSET', fence, least)
	if last and tonumber(last) >= least then
		least = last + 1
		redis.call('SET', fence, least)
	end
	return least
end
