-- permits_exchange.lua for a server that fails over. It works in a settled epoch only, and its reply counts once
-- replicas have confirmed it (WAIT).
--
-- keys: pool epoch
-- args: old:text new_id:text dlock_epoch_rule guard { time:ms resyncs:''|'-' } capacity:int
-- Replies what permits_exchange.lua does, {0} also if holders have too many permits; in an unsettled epoch {2, ms until
-- it is settled (-1: not confirmed), replid, settles}. Cost: O(log n).
--#include epoch.lua
local unsettled, replid, settles = check_epoch(KEYS[2], ARGV[3], ARGV[4] ~= '-')
if unsettled ~= 0 then
	return {2, unsettled, replid, settles}
end
-- A client that attached these permits may have been restored beside them (permits_restore.lua), if this server has
-- missed that and its clock is behind another server's. Then there are too many, and these have no holder.
local used, cap = unpack(redis.call('ZMSCORE', KEYS[1], '$used', '$cap'))
if used and tonumber(used) > tonumber(cap or ARGV[5]) then
	--#include permits_clock.lua
	--#include permits_pool.lua
	--#include permits_queue.lua
	if not make_room(read(KEYS[1], clock(KEYS[1])), 0, cap or ARGV[5]) then
		return {0}
	end
end
--#include permits_exchange.lua
