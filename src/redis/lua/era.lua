-- Included in scripts for a server that may fail over to a replica, or be failed over to; never sent by itself. docs/fail-over.md has the reasons,
-- models/failover.pml checks it.
--
-- An era is the time for which a server is a master, and the only one that grants. What is promoted, restarted, flushed or new finds no era of its own, and
-- grants no lock before one is settled: by then all leases that it may not know have ended, and what was the master before cannot have the replicas that
-- would confirm another one. Its key is replicated as all others. It says "replid guard settles waited":
--   replid   the master's replication id, which another master, or the same one after a restart, never has
--   guard    ms; no lease of anybody is longer
--   settles  when it settles by this server's clock, in ms; "-": it has; "0": its opening is not known to be replicated; "0+" and the time of the opening in
--            us: likewise, and in a cluster it may settle with another slot of the same master (settle.lua). Not where the slot came from another shard:
--            the key has the id of a master that this one does not follow upon
--   waited   the guard that it has waited for

-- The server's own, and that of the master whose place it took.
local function replication_ids()
	local info = redis.pcall('INFO', 'replication')
	if type(info) == 'table' then
		error('INFO: ' .. info.err, 0) -- the server's own words do not name it
	end
	return string.match(info, '\nmaster_replid:(%x+)%s+master_replid2:(%x+)')
end

local function read_era(era)
	return string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (%S+) (%d+)$')
end

-- In ms, and in us as digits.
local function time()
	local now = redis.call('TIME')
	return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])
end

-- Returns 0 where the server's era is settled; otherwise the ms until it is, or -1: replicas have to confirm this script, then settle.lua
-- follows. And its replid, settles and waited.
local function look_at_era(era, guard)
	local id, before = replication_ids()
	local opened, longest, settles, waited = read_era(era)
	local longer = not longest or tonumber(guard) > tonumber(longest)
	guard = longer and guard or longest
	if opened == id and settles == '-' and not longer then
		return 0, id, settles, waited
	end
	local left, now, us = 0, time()
	if opened ~= id then
		settles, waited = (not opened or opened == before) and '0+' .. us or '0', '0'
	end
	if string.sub(settles, 1, 1) == '0' then
		left = -1
	elseif settles ~= '-' then
		left = math.max(0, settles - now)
		settles = left == 0 and '-' or settles
	end
	if left <= 0 or longer then
		redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited)
	end
	return left, id, settles, waited
end
