-- Included where an epoch settles; never sent by itself.
local UNHEARD = 1048576

-- To the time at which it settles, or by more than there can be grants that this server has not heard of.
local function raise_settled(fence, at)
	local last = tonumber(redis.call('GET', fence) or 0)
	local least = math.min(math.max(at * 1000, last + UNHEARD), MOST_PROPOSED)
	if last < least then
		redis.call('SET', fence, string.format('%.0f', least))
	end
end
