-- Included in scripts that settle an epoch; never sent by itself.
local UNHEARD = 1048576

-- Raises the fence to the time at which the epoch settles, or by more than this server can have missed grants.
local function raise_settled(fence, at)
	local last = tonumber(redis.call('GET', fence) or 0)
	local least = math.min(math.max(at * 1000, last + UNHEARD), MOST_PROPOSED)
	if last < least then
		redis.call('SET', fence, string.format('%.0f', least))
	end
end
