-- Says when an epoch settles: a guard from now on, since its opening was confirmed by replicas, so that no master before
-- it can have enough of them any more. Or, in a cluster, when epoch_of.lua says that all slots of this master may. Raises
-- the fence to that time, or by more than there can be grants that this server has not heard of: so tokens rise also
-- where clocks differ.
--
-- keys: fence epoch
-- args: dlock_epoch_state *epoch { replid:text } dlock_epoch_rule guard { time:ms } epoch { settles:text }
-- args: dlock_epoch_state *look { left:int?look waited:int?look copies:text?look }
-- epoch: as it was: after FLUSHALL, or when replicas have taken full copies, it is opened once more. look: what epoch_of.lua
-- replied; without it, the full copies until now.
-- Replies the ms until it settles, 1 or more; 0 where it is another epoch, has its time, or waits for a longer guard.
-- Cost: O(1).
--#include epoch.lua
--#include fencing.lua
local UNHEARD = 1048576
local opened, longest, settles = read_epoch(KEYS[2])
if opened ~= ARGV[1] or string.sub(settles, 1, 1) ~= '0' or replication_id() ~= opened then
	return 0
end
local guard = math.max(longest, ARGV[2])
local left, waited = tonumber(ARGV[4] or guard), tonumber(ARGV[5] or guard)
if settles ~= ARGV[3] or waited < guard then
	return 0
end
local at = time() + left + 1
redis.call('SET', KEYS[2], string.format('%s %.0f %.0f %.0f %s', opened, guard, at, waited, ARGV[6] or full_copies()))
local last = tonumber(redis.call('GET', KEYS[1]) or 0)
local least = math.min(math.max(at * 1000, last + UNHEARD), MOST_PROPOSED)
if last < least then
	redis.call('SET', KEYS[1], string.format('%.0f', least))
end
return left + 1
