-- permits_upgrade.lua for a server that fails over. It works in a settled epoch only, and its reply counts once
-- replicas have confirmed it (WAIT).
--
-- keys: pool epoch
-- args: id:text ttl:lease rest:text dlock_epoch_rule guard { time:ms resyncs:''|'-' }
-- Replies what permits_upgrade.lua does, {0, -1, -1, '0', 0} also if holders have too many permits; in an unsettled
-- epoch {0, …, ms until it is settled (-1: not confirmed), replid, settles} (epoch.lua). Cost: that of
-- permits_upgrade.lua, and three commands, one of them INFO.
--#include epoch.lua
local unsettled, replid, settles = check_epoch(KEYS[2], ARGV[4], ARGV[5] ~= '-')
if unsettled ~= 0 then
	return {0, unsettled, -1, '0', 0, unsettled, replid, settles}
end
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
-- Other holders may have been restored beside it (permits_restore.lua).
local used = tonumber(redis.call('ZSCORE', KEYS[1], '$used') or 0)
if used > ALL and not make_room(read(KEYS[1], clock(KEYS[1])), 0, ALL) then
	return {0, -1, -1, '0', 0}
end
local replicated = true
--#include permits_become_writer.lua
