-- Included in scripts that need the time; never sent by itself.

-- The server's time in us for a user who may not run TIME: the time at which a key expires, minus the time it has left.
-- If the key is missing, the function creates it for the moment. If the key never expires, it is given an expiry time.
-- PEXPIRETIME came with Redis 7.
local function clock_of(key, refusal)
	local made = redis.call('PTTL', key) == -2 and redis.call('SET', key, '', 'PX', 1)
	local ends = redis.pcall('PEXPIRETIME', key)
	if ends == -1 and redis.call('PEXPIRE', key, 60000) then
		ends = redis.call('PEXPIRETIME', key)
	end
	local left = redis.call('PTTL', key)
	if made then
		redis.pcall('DEL', key)
	end
	if type(ends) ~= 'number' then
		error('time is refused, and pexpiretime, which would do instead, too, or unknown: ' .. refusal, 0)
	end
	return string.format('%.0f', (ends - left) * 1000)
end
