-- Says when an era settles: a guard from now on, since its opening was confirmed by replicas, so that no master before it can have enough of them
-- any more. Or, in a cluster, when another slot's era does, which the same master has opened: it has the same replicas.
-- Raises the fence to that time.
--
-- keys: 2
-- KEYS[1] the fence           KEYS[2] the era
-- ARGV[1] the replid that it was opened for                           ARGV[2] the guard in ms
-- With another slot's era: ARGV[3] what `settles` was before that was looked at, so that a FLUSHALL since then is noticed
-- ARGV[4] the ms that are left there, or 0                            ARGV[5] what it has waited for
-- Replies the ms until it settles, 1 or more; 0 where it is another era, has its time, or cannot have the other's. Cost: O(1).
--#include era.lua
--#include fencing.lua
local opened, longest, settles = read_era(KEYS[2])
if opened ~= ARGV[1] or string.sub(settles, 1, 1) ~= '0' or replication_ids() ~= opened then
	return 0
end
local guard, left, waited = math.max(longest, ARGV[2])
if ARGV[3] then
	left, waited = tonumber(ARGV[4]), tonumber(ARGV[5])
	if settles ~= ARGV[3] or waited < guard then
		return 0
	end
else
	left, waited = guard, guard
end
local at = time() + left + 1
redis.call('SET', KEYS[2], string.format('%s %.0f %.0f %.0f', opened, guard, at, waited))
if tonumber(redis.call('GET', KEYS[1]) or 0) < at * 1000 then
	redis.call('SET', KEYS[1], string.format('%.0f', math.min(at * 1000, MOST_PROPOSED)))
end
return left + 1
