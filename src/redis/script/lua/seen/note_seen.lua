-- Included in scripts that list a lock for operators (seen.lua); never sent by itself.

-- Lists the lock for `lasts` ms from now on. No client relies on the list, so refused commands are ignored. Each new
-- entry removes some that have expired. The list expires with its last entry, at the latest after twice that time.
local function note_seen(seen, lock, now, lasts)
	local until_then = redis.pcall('ZSCORE', seen, lock)
	if type(until_then) == 'table' or tonumber(until_then or 0) >= now + lasts / 2 then
		return
	end
	local added, left = redis.pcall('ZADD', seen, string.format('%.0f', now + lasts), lock), redis.pcall('PTTL', seen)
	if type(left) == 'number' and left < lasts then
		redis.pcall('PEXPIRE', seen, string.format('%.0f', 2 * lasts))
	end
	if added ~= 1 then
		return
	end
	local first = redis.pcall('ZRANGE', seen, 0, 9, 'WITHSCORES')
	for i = 2, #first, 2 do
		if tonumber(first[i]) < now then
			redis.pcall('ZREM', seen, first[i - 1])
		end
	end
end
