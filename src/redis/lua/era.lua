-- Included in scripts for a server that may fail over to a replica, or be failed over to; never sent by itself. docs/fail-over.md has the reasons,
-- models/failover.pml checks it.
--
-- An era is the time for which a server is a master, and the only one that grants. Its key, which is replicated as all others, says for whom it was
-- opened, as "replid guard settles": the master's replication id, which another master, or the same one after a restart, never has; the guard in ms, the
-- longest lease time that anybody uses; and when it settles by this server's clock, in ms. 0: its opening is not known to be replicated; "-": it has.
-- What is promoted, restarted, flushed or new finds no era of its own, and grants no lock before one is settled: by then all leases that it may not know
-- have ended, and what was the master before cannot have the replicas that would confirm another one.

local function replication_id()
	return string.match(redis.call('INFO', 'replication'), '\nmaster_replid:(%x+)')
end

-- Returns 0 where the server's era is settled; otherwise the ms until it is, or -1: replicas have to confirm this script, then settle.lua
-- follows. And the replication id.
local function look_at_era(era, guard)
	local id = replication_id()
	local opened, longest, settles = string.match(redis.call('GET', era) or '', '^(%x+) (%d+) (.+)$')
	local longer = not longest or tonumber(guard) > tonumber(longest)
	guard = longer and guard or longest
	if opened ~= id then
		settles = '0'
	elseif settles == '-' and not longer then
		return 0, id
	end
	local left = -1
	if settles == '-' then
		left = 0
	elseif settles ~= '0' then
		local now = redis.call('TIME')
		left = math.max(0, settles - now[1] * 1000 - math.floor(now[2] / 1000))
		settles = left == 0 and '-' or settles
	end
	if left <= 0 or longer then
		redis.call('SET', era, id .. ' ' .. guard .. ' ' .. settles)
	end
	return left, id
end
