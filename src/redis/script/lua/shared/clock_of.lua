-- Included where the time is asked for; never sent by itself.

-- Where TIME is refused: when a key ends, less how long that is. A key that is not there is made for the moment, and
-- one that never ends is given an end. PEXPIRETIME came with Redis 7.
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
