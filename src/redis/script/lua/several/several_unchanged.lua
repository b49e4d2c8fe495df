-- unchanged.lua for several locks at once: all of them are the token's, or none is.
--
-- keys: locks...
-- args: token:text dlock_epoch_rule guard { time:ms } old:text? final:'1'|''?
-- As in several_acquire_replicated.lua. Replies as unchanged.lua. Cost: O(n) for n locks.
local n, epoch = #KEYS - 2, KEYS[#KEYS]
for i = 1, n, 3 do
	if redis.call('GET', KEYS[i]) ~= ARGV[1] then
		return 0
	end
end
-- As in unchanged.lua.
local full, partial = string.match(redis.call('GET', epoch) or '', '^%x+ %d+ %-%d+ %d+ (%d+) (%d+) ')
if full and string.find(redis.call('INFO', 'stats'),
	'\nsync_full:' .. full .. '\r\nsync_partial_ok:' .. partial .. '\r', 1, true) then
	return 1
end

--#include epoch.lua
local unsettled, replid, settles = check_epoch(epoch, ARGV[2], true, ARGV[4] == '1')
if unsettled == 0 then
	local _, _, _, _, attached = read_epoch(epoch)
	return attached == attached_until_now() and 1 or {-2, replid, settles}
end
local old = ARGV[3] or ''
for i = 1, n, 3 do
	if old ~= '' then
		redis.call('SET', KEYS[i], old, 'PX', math.max(1, redis.call('PTTL', KEYS[i])))
	else
		redis.call('DEL', KEYS[i])
	end
end
return {unsettled, replid, settles}
