-- Included in scripts for a server that may fail over to a replica, or be failed over to; never sent by itself.
-- docs/fail-over.md has the reasons, tests/models/failover.pml checks it.
--
-- An epoch is the time for which a server is a master, and the only one that grants. What is promoted, restarted, flushed
-- or new finds no epoch of its own, and grants no lock before one is settled: by then all leases that it may not know
-- have ended, and what was the master before cannot have the replicas that would confirm another one. Nor does a master
-- that has been replaced since, and whose replica has come back: that takes a full copy of its data. Its key is
-- replicated as all others. It says "replid guard settles waited copies":
--   replid   the master's replication id, which another master, or the same one after a restart, never has
--   guard    ms; no lease of anybody is longer
--   settles  when it settles by this server's clock, in ms, with a "-" before it once that has been; "0" and the time
--            of the opening in us: its opening is not known to be replicated
--   waited   the guard that it waits for, or has waited for
--   copies   how many full copies of its data the server had made for replicas when it was opened, or was about to
--            settle

local function info(section, field)
	local text = redis.pcall('INFO', section)
	if type(text) == 'table' then
		error('INFO: ' .. text.err, 0) -- the server's own words do not name it
	end
	-- a pattern would be looked for several times as long
	local _, last = string.find(text, '\n' .. field .. ':', 1, true)
	return last and string.match(text, '^%x+', last + 1)
end

local function replication_id()
	return info('replication', 'master_replid')
end

local function full_copies()
	return info('stats', 'sync_full') or '0'
end

local function read_epoch(epoch)
	return string.match(redis.call('GET', epoch) or '', '^(%x+) (%d+) (%-?%d+) (%d+) ?(%d*)$')
end

-- In ms, and in us as digits.
local function time()
	local now = redis.call('TIME')
	return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])
end

-- Returns 0 where the server's epoch is settled; otherwise the ms until it is, or -1: replicas have to confirm this
-- script, then settle.lua follows. And its replid, settles and waited. With `counts`, it is opened anew where replicas
-- have taken full copies since; a settled one only if it `doubts` that, too: what it grants is looked at by
-- unchanged.lua.
local function check_epoch(epoch, guard, counts, doubts)
	local id = replication_id()
	local opened, longest, settles, waited, copies = read_epoch(epoch)
	local longer = not longest or tonumber(guard) > tonumber(longest)
	local settled = opened == id and not longer and string.sub(settles, 1, 1) == '-'
	guard = longer and guard or longest
	if settled and not (counts and doubts and copies ~= full_copies()) then
		return 0, id, settles, waited
	end
	local left, now, us = -1, time()
	if opened ~= id or counts and string.sub(settles, 1, 1) ~= '0' and copies ~= full_copies() then
		settles, waited, copies = '0' .. us, '0', full_copies()
	elseif string.sub(settles, 1, 1) ~= '0' then
		-- A longer guard is waited for from the beginning. No clock that was set back makes it longer.
		local at = math.abs(settles) + math.max(0, guard - waited)
		left = math.max(0, math.min(at - now, guard))
		longer = longer or at - now > tonumber(guard)
		settles = string.format('%.0f', left == 0 and -at or now + left)
		waited = string.format('%.0f', math.max(guard, waited))
	end
	if left <= 0 or longer then
		redis.call('SET', epoch, id .. ' ' .. guard .. ' ' .. settles .. ' ' .. waited .. ' ' .. copies)
	end
	return left, id, settles, waited
end
