-- permits_downgrade.lua for a server that fails over. In an unsettled epoch it grants no permit, because the server may
-- lack holders.
--
-- keys: pool epoch
-- args: id:text ttl:lease dlock_epoch_rule guard { time:ms }
-- Replies what permits_downgrade.lua does. Cost: O(log n), seven commands, one of them INFO.
--#include epoch.lua
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
local replicated = true
local function is_unsettled()
	return check_epoch(KEYS[2], ARGV[3]) ~= 0
end
--#include permits_become_reader.lua
