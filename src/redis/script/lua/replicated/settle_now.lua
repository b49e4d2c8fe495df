-- Settles an epoch at once, or moves the base of a settled one. That requires that the data which it continues were
-- known to have all leases. Since then, as the client found, the master and enough replicas must have been nowhere
-- else. survey.c has the rules, docs/fail-over.md the reasons. Otherwise the script notes how far the clocks are apart.
--
-- keys: fence epoch
-- args: dlock_epoch_state *epoch { replid:text } dlock_epoch_rule guard { time:ms }
-- args: dlock_survey *survey { attached:text first:int skew:int }
-- survey: what the client found. attached: before it asked any server; if that is the same now, no replica has attached
-- since. first: the first offset in the backlogs of enough nodes, -1: of too few. skew: ms, -1: not known.
-- Replies 1: it is settled, and the base is as of now; 2: how far the clocks are apart is noted; 0: neither. Cost:
-- O(1).
--#include epoch.lua
--#include fencing.lua

-- The ms by which a key outlives its lease if replicas confirm: DLOCK_CLOCK_MARGIN.
local MARGIN = 1000

local opened, longest, settles, waited, attached, base, seen, skew = read_epoch(KEYS[2])
local role = info('replication')
if opened ~= ARGV[1] or field(role, 'master_replid') ~= opened or attached_until_now() ~= ARGV[3] then
	return 0
end
local now, settled = time(), string.sub(settles, 1, 1) == '-'
local found = ARGV[5] == '-1' and '' or ARGV[5]
-- A settled master writes its keys by its own clock. Keys of earlier masters have expired a guard later.
local carried = settled and now + settles > tonumber(longest) and '0' or skew
local together = carried ~= '' and found ~= '' and string.format('%.0f', carried + found) or ''
local knows = seen ~= '' and tonumber(ARGV[4]) >= 0 and tonumber(ARGV[4]) <= seen + 1
	and tonumber(longest) <= tonumber(ARGV[2])
if knows and (settled or skew ~= '' and tonumber(skew) <= MARGIN) then
	local offset = field(role, 'master_repl_offset')
	local at = settled and settles or string.format('%.0f', -now)
	write_epoch(KEYS[2], opened, longest, at, settled and waited or longest, ARGV[3], offset, offset, together)
	if not settled then
		--#include settled_fence.lua
		raise_settled(KEYS[1], now)
	end
	return 1
end
if settled or seen ~= '' or found == '' then
	return 0
end
if found ~= skew then
	write_epoch(KEYS[2], opened, longest, settles, waited, attached, base, seen, found)
end
return 2
