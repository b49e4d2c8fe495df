-- Included where fencing tokens are given out; never sent by itself.

--#include clock_of.lua
-- The server's time in us, as digits: to write numbers of that size costs more than to read them. `scratch` is a key
-- that may be made or given an end; without one, the lock is held and has an end.
local function clock(scratch)
	local now = redis.pcall('TIME')
	return now.err and clock_of(scratch or KEYS[1], now.err) or now[1] .. string.format('%06d', now[2])
end

-- The most that any clock proposes: 2^52, which in us is the year 2112. A clock that is further ahead brings the fence
-- to that, and no nearer to 2^53, the limit of exact numbers: from there it rises by one each time, for ever.
local MOST_PROPOSED = 4503599627370496

-- A fence that is missing was lost, perhaps under open connections whose clients count on from it: it begins at the
-- time, however small the token is that is the first to be noted again.
local function raise_lost(fence, token)
	local now = math.min(clock(), MOST_PROPOSED)
	if now > tonumber(token) then
		redis.call('SET', fence, string.format('%.0f', now))
	end
end

-- The next fencing token, at least `least`, as digits. The server's time, given as that, keeps the tokens rising where
-- the last one was lost, or came back old, with the server's data; the last one keeps them rising where the clock went
-- back. The caller has used SET before: were that found to be forbidden here, the fence would have been lowered.
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
