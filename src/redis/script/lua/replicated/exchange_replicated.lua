-- exchange.lua for a server that fails over. It works in a settled epoch only, and its reply counts once replicas have
-- confirmed it (WAIT).
--
-- keys: lock fence epoch
-- args: old:text new_token:text least_fencing_token:int dlock_epoch_rule guard { time:ms resyncs:''|'-'? }
-- Replies what exchange.lua does; in an unsettled epoch {2, ms until it is settled (-1: not confirmed), replid,
-- settles}. Cost: O(1).
--#include epoch.lua
local unsettled, replid, settles = check_epoch(KEYS[3], ARGV[4], ARGV[5] ~= '-')
if unsettled ~= 0 then
	return {2, unsettled, replid, settles}
end
--#include swap.lua
return swap(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3])
