-- Makes these locks last for the lease time from now on, if the token holds all of them. If one is lost, all are lost,
-- but the rest is released only after the holder has been told.
--
-- keys: locks...
-- args: token:text ttl:ms shortens:'1'|''?
-- The keys are the locks alone. ttl 0: the leases stay as they are. shortens 1: the lease time is set even if more is
-- left; see renew.lua. Replies 0 if the token does not hold all of them; otherwise 1, and with ttl 0 the ms left. Cost:
-- O(n) for n locks.
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
