-- Included in scripts that list a lock for those who look (seen.lua); never sent by itself.

-- Lists the lock for `lasts` ms from now on. Nobody relies on that, so what is refused is left undone. Each new entry
-- takes out some that are over; a list that nobody adds to is gone after a day.
local function note_seen(seen, lock, now, lasts)
	local until_then = redis.pcall('ZSCORE', seen, lock)
	if type(until_then) == 'table' or tonumber(until_then or 0) >= now + lasts / 2 then
		return
	end
	if redis.pcall('ZADD', seen, string.format('%.0f', now + lasts), lock) ~= 1 then
		return
	end
	redis.pcall('PEXPIRE', seen, 86400000)
	local first = redis.pcall('ZRANGE', seen, 0, 9, 'WITHSCORES')
	for i = 2, #first, 2 do
		if tonumber(first[i]) < now then
			redis.pcall('ZREM', seen, first[i - 1])
		end
	end
end
