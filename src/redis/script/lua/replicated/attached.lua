-- Included behind a grant and its WAIT, where the grant is still there; never sent by itself. It goes on where the
-- epoch was opened anew: then the grant is to be given back.
--
-- The script has the local `epoch`, its key, and the arguments of unchanged.lua.

-- The common case ends here. Whose epoch it is does not matter: other data that have this very token are those of a
-- master that knows of the grant.
local full, partial = string.match(redis.call('GET', epoch) or '', '^%x+ %d+ %-%d+ %d+ (%d+) (%d+) ')
if full and string.find(redis.call('INFO', 'stats'),
	'\nsync_full:' .. full .. '\r\nsync_partial_ok:' .. partial .. '\r', 1, true) then
	return 1
end

--#include epoch.lua
local unsettled, replid, settles = check_epoch(epoch, ARGV[2], true, ARGV[4] == '1')
if unsettled == 0 then
	local _, _, _, _, attached = read_epoch(epoch)
	return attached == attached_until_now() and 1 or {-2, replid, settles}
end
