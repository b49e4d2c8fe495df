-- Included in scripts for a server that may fail over to a replica, or be failed over to; never sent by itself. docs/fail-over.md has the reasons,
-- models/failover.pml checks it.
--
-- An era is the time for which a server is a master, and the only one that grants. What is promoted, restarted, flushed or new finds no era of its own, and
-- grants no lock before one is settled: by then all leases that it may not know have ended, and what was the master before cannot have the replicas that
-- would confirm another one. Its key is replicated as all others. It says "replid guard settles waited":
--   replid   the master's replication id, which another master, or the same one after a restart, never has
--   guard    ms; no lease of anybody is longer
--   settles  when it settles by this server's clock, in ms, with a "-" before it once that has been; "0" and the time of the opening in us: its opening is
--            not known to be replicated
--   waited   the guard that it waits for, or has waited for

local function replication_id()
	local info = redis.pcall('INFO', 'replication')
	if type(info) == 'table' then
		error('INFO: ' .. info.err, 0) -- the server's own words do not name it
	end
	return string.match(info, '\nmaster_replid:(%x+)')
end

local function read_era(era)
	return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%-?%d+) (%d+)$')
end

-- In ms, and in us as digits.
local function time()
	local now = redis.call('TIME')
	return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])
end

-- Returns 0 where the server's era is settled; otherwise the ms until it is, or -1: replicas have to confirm this script, then settle.lua
-- follows. And its replid, settles and waited.
local function look_at_era(era, guard)
	local id = replication_id()
	local opened, longest, settles, waited = read_era(era)
	local longer = not longest or tonumber(guard) > tonumber(longest)
	guard = longer and guard or longest
	if opened == id and not longer and string.sub(settles, 1, 1) == '-' then
		return 0, id, settles, waited
	end
	local left, now, us = -1, time()
	if opened ~= id then
		settles, waited = '0' .. us, '0'
	elseif string.sub(settles, 1, 1) ~= '0' then
		-- A longer guard is waited for from the beginning. No clock that was set back makes it longer.
		local at = math.abs(settles) + math.max(0, guard - waited)
		left = math.max(0, math.min(at - now, guard))
		longer = longer or at - now > tonumber(guard)
		settles, waited = string.format('%.0f', left == 0 and -at or now + left), string.format('%.0f', math.max(guard, waited))
	end
	if left <= 0 or longer then
		redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)
	end
	return left, id, settles, waited
end
