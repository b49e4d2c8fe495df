-- Sets the time at which an epoch settles: a guard from now on. Replicas have confirmed its opening, so no earlier
-- master can still have enough of them. In a cluster the time is when epoch_of.lua says that all slots of this master
-- may settle. The fence rises to that time, or by more than the number of grants that this server can have missed. So
-- tokens rise even if clocks differ.
--
-- keys: fence epoch
-- args: dlock_epoch_state *epoch { replid:text } dlock_epoch_rule guard { time:ms } epoch { settles:text }
-- args: dlock_epoch_state *look { left:int?look waited:int?look attached:text?look }
-- epoch: as the client read it. It is opened once more after FLUSHALL, or when replicas have made full
-- resynchronizations. look: the reply of epoch_of.lua; without it, what has attached until now counts.
-- Replies the ms until the epoch settles, 1 or more; 0 if it is another epoch, has its time, or waits for a longer
-- guard. Cost: O(1).
--#include epoch.lua
--#include fencing.lua
local opened, longest, settles, _, _, _, seen, skew = read_epoch(KEYS[2])
local role = info('replication')
if opened ~= ARGV[1] or string.sub(settles, 1, 1) ~= '0' or field(role, 'master_replid') ~= opened then
	return 0
end
local guard = math.max(longest, ARGV[2])
local left, waited = tonumber(ARGV[4] or guard), tonumber(ARGV[5] or guard)
if settles .. '/' .. seen ~= ARGV[3] or waited < guard then
	return 0
end
local at = time() + left + 1
local until_now = attached_until_now()
local attached = ARGV[6] or until_now
local base = attached == until_now and field(role, 'master_repl_offset') or ''
local times = string.format('%.0f %.0f %.0f', guard, at, waited)
write_epoch(KEYS[2], opened, times, attached, base, seen, skew)
--#include settled_fence.lua
raise_settled(KEYS[1], at)
return left + 1
