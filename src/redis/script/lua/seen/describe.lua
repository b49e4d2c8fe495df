-- Notes what a holder says about itself, and lists its lock, both for two lease times. inspect.lua uses the note only
-- if the holder that it names still holds the lock.
--
-- keys: lock held seen
-- args: id:text text:text ttl:lease many:'1'|''
-- text: since when it has held the lock in us, its fencing token, host name and label. many: a pool of permits, which
-- has several holders: the note is in a hash. Replies nothing. Cost: O(1); of a pool O(holders), now and then.
--#include note_seen.lua
local held, ttl, id, text = KEYS[2], tonumber(ARGV[3]), ARGV[1], ARGV[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
note_seen(KEYS[3], KEYS[1], now, 2 * ttl)
if ARGV[4] ~= '1' then
	redis.call('SET', held, id .. ' ' .. text, 'PX', 2 * ttl)
else
	redis.call('HSET', held, id, string.format('%.0f', now + 2 * ttl) .. ' ' .. text)
	if redis.call('PTTL', held) < 2 * ttl then
		redis.call('PEXPIRE', held, 2 * ttl)
	end
	local count = redis.pcall('HLEN', held)
	if type(count) == 'number' and count % 64 == 0 then
		local all = redis.pcall('HGETALL', held)
		for i = 2, #all, 2 do
			if tonumber(string.match(all[i], '^%d+') or 0) < now then
				redis.pcall('HDEL', held, all[i - 1])
			end
		end
	end
end
