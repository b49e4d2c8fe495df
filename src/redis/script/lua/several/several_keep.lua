-- Makes these locks last for the lease time from now on, if all of them are the token's. A part that is lost is all
-- lost; but the rest is given back only once the holder has been told so.
--
-- keys: locks...
-- args: token:text ttl:ms shortens:'1'|''?
-- The locks alone. ttl 0: as they are. shortens 1: also where more is left; see renew.lua.
-- Replies 0 when they were not, otherwise 1, and with ttl 0 the ms left. Cost: O(n) for n locks.
local ttl, own = tonumber(ARGV[2]), 0
for _, lock in ipairs(KEYS) do
	own = own + (redis.pcall('GET', lock) == ARGV[1] and 1 or 0)
end
if own == #KEYS then
	local least
	for _, lock in ipairs(KEYS) do
		local left = (ttl == 0 or ARGV[3] ~= '1') and redis.call('PTTL', lock) or 0
		least = math.min(least or left, left)
		if ttl > 0 and left < ttl then
			redis.call('PEXPIRE', lock, ttl)
		end
	end
	return ttl > 0 and 1 or least
end
return 0
