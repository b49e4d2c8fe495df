-- Included in scripts that grant in a settled epoch; never sent by itself. It tells the common case without epoch.lua,
-- which takes time to define, and says at length what is settled.
--
-- The script has the locals `epoch`, its key, and `guard`. False: check_epoch() has to look.
local opened, longest, seen = string.match(redis.call('GET', epoch) or '', '^(%x+) (%d+) %-%d+ %d+ %d+ %d+ %d* (%d*)')
local role = opened and tonumber(guard) <= tonumber(longest) and redis.pcall('INFO', 'replication')
local settled = type(role) == 'string' and string.find(role, '\nmaster_replid:' .. opened, 1, true)
if settled and seen ~= '' then
	local _, last = string.find(role, '\nmaster_repl_offset:', settled, true)
	-- FAR: otherwise it is to be brought up to date
	settled = last and string.match(role, '^%d+', last + 1) - seen <= 262144
end
