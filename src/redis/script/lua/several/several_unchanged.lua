-- unchanged.lua for several locks at once: the token holds all of them, or they count as lost.
--
-- keys: locks...
-- args: token:text dlock_epoch_rule guard { time:ms } old:text? final:'1'|''?
-- Keys are as in several_acquire_replicated.lua. Replies as unchanged.lua. Cost: O(n) for n locks.
local n, epoch = #KEYS - 2, KEYS[#KEYS]
for i = 1, n, 3 do
	if redis.call('GET', KEYS[i]) ~= ARGV[1] then
		return 0
	end
end
--#include attached.lua
local old = ARGV[3] or ''
for i = 1, n, 3 do
	if old ~= '' then
		redis.call('SET', KEYS[i], old, 'PX', math.max(1, redis.call('PTTL', KEYS[i])))
	else
		redis.call('DEL', KEYS[i])
	end
end
return {unsettled, replid, settles}
