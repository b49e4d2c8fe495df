-- several_exchange.lua for a server that fails over. It works in a settled epoch only, and its reply counts once
-- replicas have confirmed it (WAIT).
--
-- keys: locks...
-- args: old:text new_token:text least_fencing_token:int dlock_epoch_rule guard { time:ms resyncs:''|'-'? }
-- Keys are as in several_acquire_replicated.lua. Replies as exchange_replicated.lua, with the least ms left. Cost: O(n)
-- for n locks.
--#include epoch.lua
local unsettled, replid, settles = check_epoch(KEYS[#KEYS], ARGV[4], ARGV[5] ~= '-')
if unsettled ~= 0 then
	return {2, unsettled, replid, settles}
end
--#include several_swap.lua
return swap_all(#KEYS - 2, KEYS[#KEYS - 1], ARGV[1], ARGV[2], ARGV[3])
