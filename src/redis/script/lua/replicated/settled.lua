-- Included in scripts that grant in a settled epoch; never sent by itself. It tells the common case without epoch.lua,
-- which takes time to define, and says at length what is settled. It goes on where the fencing token is not counted:
-- next_token() does that then.
--
-- The script has the locals `epoch`, its key, `guard`, `fence`, and `counted`, which its grant() sets: what INCR of the
-- fence replies where it has granted. `settled` is false where check_epoch() has to look.

local opened, longest, seen = string.match(redis.call('GET', epoch) or '', '^(%x+) (%d+) %-%d+ %d+ %d+ %d+ %d* (%d*)')
local role = opened and tonumber(guard) <= tonumber(longest) and redis.pcall('INFO', 'replication')
local settled = type(role) == 'string' and string.find(role, '\nmaster_replid:' .. opened, 1, true)
if settled and seen ~= '' then
	local _, last = string.find(role, '\nmaster_repl_offset:', settled, true)
	-- FAR: otherwise it is to be brought up to date
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
