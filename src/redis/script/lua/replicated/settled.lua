-- Included in scripts that grant in a settled epoch; never sent by itself. It recognizes the common case without
-- epoch.lua, which has the full rules and takes time to define. It continues if the fencing token was not counted:
-- next_token() does that then.
--
-- The script has the locals `epoch`, its key, `guard`, `fence`, and `counted`: its grant() sets that to the reply of
-- INCR on the fence, if it has granted. `settled` is false if check_epoch() has to look.

local opened, longest, seen = string.match(redis.call('GET', epoch) or '', '^(%x+) (%d+) %-%d+ %d+ %d+ %d+ %d* (%d*)')
local role = opened and tonumber(guard) <= tonumber(longest) and redis.pcall('INFO', 'replication')
local settled = type(role) == 'string' and string.find(role, '\nmaster_replid:' .. opened, 1, true)
if settled and seen ~= '' then
	local _, last = string.find(role, '\nmaster_repl_offset:', settled, true)
	-- FAR of epoch.lua: check_epoch() has to update `seen` beyond that
	settled = last and string.match(role, '^%d+', last + 1) - seen <= 262144
end
if settled then
	grant()
	if type(counted) == 'number' and counted > 1 then
		return counted
	end
end

--#include epoch.lua
local unsettled, replid, settles = 0
if not settled then
	unsettled, replid, settles = check_epoch(epoch, guard, ARGV[4] ~= '-')
	if unsettled == 0 then
		grant()
	end
end
--#include fencing.lua
local function next_token()
	counted = counted or redis.call('INCR', fence)
	if type(counted) == 'table' then
		error(counted.err, 0)
	end
	return counted > 1 and counted or tonumber(fencing_token(fence, clock()))
end
