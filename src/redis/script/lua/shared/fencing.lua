-- Included in scripts that give out fencing tokens; never sent by itself.

--#include clock_of.lua
-- The server's time in us, as digits: writing a number of that size costs more than reading it. `scratch` is a key that
-- the function may create, or let expire. Without it the caller holds the lock, whose key expires.
local function clock(scratch)
	local now = redis.pcall('TIME')
	return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])
end

-- The most that any clock proposes: 2^52, which in us is the year 2112. A clock that is further ahead raises the fence
-- to that, and no nearer to 2^53, the limit of exact numbers. From there each token adds 1, which never reaches the
-- limit.
local MOST_PROPOSED = 4503599627370496

-- A missing fence was lost, perhaps under open connections whose clients count on from it. So it begins at the server's
-- time, even if the first token that is noted again is smaller.
local function raise_lost(fence, token)
	local now = math.min(clock(), MOST_PROPOSED)
	if now > tonumber(token) then
		redis.call('SET', fence, string.format('%.0f', now))
	end
end

-- Returns the next fencing token as digits, at least `least`. The server's time as `least` keeps tokens rising if the
-- last token was lost with the server's data, or came back old. The last token keeps them rising if the clock went
-- back. The caller has used SET before: otherwise GETSET could lower the fence for a user who may not run SET to raise
-- it again.
local function fencing_token(fence, least)
	if tonumber(least) > MOST_PROPOSED then
		least = string.format('%.0f', MOST_PROPOSED)
	elseif tonumber(least) < 1 then
		least = '1'
	end
	local last = redis.call('GETSET', fence, least)
	if not last then
		raise_lost(fence, least)
	elseif tonumber(last) >= tonumber(least) then
		least = string.format('%.0f', last + 1)
		redis.call('SET', fence, least)
	end
	return least
end
