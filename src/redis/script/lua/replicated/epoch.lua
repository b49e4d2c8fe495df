-- Included in scripts for a server that may fail over to a replica, or may be that replica; never sent by itself.
-- docs/fail-over.md has the reasons, tests/models/failover.pml is the model.
--
-- An epoch is the time for which a server is the master, and the only one that grants. A server that was promoted,
-- restarted or flushed, or is new, finds no epoch of its own, and grants no lock before one is settled. By then all
-- leases that it may not know have expired, and the previous master cannot have the replicas that would confirm another
-- one. Nor does a replaced master grant whose replica has come back, because that replica attaches anew. The epoch's
-- key is replicated like all keys. Its value is "replid guard settles waited attached base seen skew":
--   replid    the master's replication ID, which no other master ever has, nor the same one after a restart
--   guard     ms; no lease is longer
--   settles   when it settles by this server's clock, in ms, with a "-" in front once it has; "0" and the time of the
--             opening in us: the opening is not known to be replicated
--   waited    the guard that it waits for, or has waited for
--   attached  how often replicas have attached to the server, by full and by partial resynchronizations, until the
--             base: "full partial"
--   base      the replication offset at which the guard began
--   seen      the replication offset at which a settled master was last seen to know all leases, with no replica
--             attached since its base. A new epoch inherits it from the epoch that its data continue: a node whose
--             backlog begins before it has been nowhere else since (settle_now.lua). Empty: not known
--   skew      ms by which the clock that wrote the keys, and that of any node, may differ. Empty: not known

local function info(section)
	local text = redis.pcall('INFO', section)
	if type(text) == 'table' then
		error('INFO: ' .. text.err, 0) -- the server's own words do not name it
	end
	return text
end

-- A pattern takes several times as long as this plain search.
local function field(text, name)
	local _, last = string.find(text, '\n' .. name .. ':', 1, true)
	return last and string.match(text, '^%x+', last + 1)
end

local function attached_until_now()
	local stats = info('stats')
	return (field(stats, 'sync_full') or '0') .. ' ' .. (field(stats, 'sync_partial_ok') or '0')
end

local function full(attached)
	return string.match(attached, '^%d+')
end

local function read_epoch(epoch)
	return string.match(redis.call('GET', epoch) or '',
		'^(%x+) (%d+) (%-?%d+) (%d+) (%d+ %d+) (%d*) (%d*) (%d*)$')
end

local function write_epoch(epoch, ...)
	redis.call('SET', epoch, table.concat({...}, ' '))
end

-- Returns the time in ms, and in us as digits.
local function time()
	local now = redis.call('TIME')
	return now[1] * 1000 + math.floor(now[2] / 1000), now[1] .. string.format('%06d', now[2])
end

-- `seen` is updated when it is this far behind, before it drops out of a backlog of 1 MB, the default of Redis.
local FAR = 262144

-- Returns 0 if the server's epoch is settled; otherwise the ms until it is, or -1: replicas have to confirm this
-- script, then settle.lua follows. Also returns its replid; its settles and seen, as "settles/seen"; and waited. With
-- `counts`, an epoch is opened anew if replicas have made full resynchronizations since. A settled epoch is only opened
-- anew for that if `doubts` is 'full', and for any replica that has attached if `doubts` is true: unchanged.lua looks
-- at what it grants.
local function check_epoch(epoch, guard, counts, doubts)
	local role = info('replication')
	local id = field(role, 'master_replid')
	local opened, longest, settles, waited, attached, base, seen, skew = read_epoch(epoch)
	local longer = not longest or tonumber(guard) > tonumber(longest)
	local settled = opened == id and not longer and string.sub(settles, 1, 1) == '-'
	guard = longer and guard or longest
	if settled then
		local offset = field(role, 'master_repl_offset')
		local is_far = seen ~= '' and offset - seen > FAR
		local until_now = (doubts and counts or is_far) and attached_until_now() or attached
		local unchanged = attached == until_now or doubts == 'full' and full(attached) == full(until_now)
		if is_far and attached == until_now then
			seen = offset
			write_epoch(epoch, id, guard, settles, waited, attached, base, seen, skew)
		end
		if unchanged or not (doubts and counts) then
			return 0, id, settles .. '/' .. seen, waited
		end
	end
	local left, now, us = -1, time()
	seen = (opened == id or opened == field(role, 'master_replid2')) and not longer and seen or ''
	if opened ~= id or settled
		or counts and string.sub(settles, 1, 1) ~= '0' and full(attached) ~= full(attached_until_now()) then
		settles, waited, attached, base, skew = '0' .. us, '0', attached_until_now(), '', seen ~= '' and skew or ''
	elseif string.sub(settles, 1, 1) ~= '0' then
		-- A longer guard counts from the beginning. A clock that was set back makes the wait no longer than the guard.
		local at = math.abs(settles) + math.max(0, guard - waited)
		left = math.max(0, math.min(at - now, guard))
		base = longer and '' or base
		seen = left == 0 and base or seen
		longer = longer or at - now > tonumber(guard)
		settles = string.format('%.0f', left == 0 and -at or now + left)
		waited = string.format('%.0f', math.max(guard, waited))
	end
	if left <= 0 or longer then
		write_epoch(epoch, id, guard, settles, waited, attached, base, seen, skew)
	end
	return left, id, settles .. '/' .. seen, waited
end
