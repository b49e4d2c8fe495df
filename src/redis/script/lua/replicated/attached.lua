-- Included in scripts that follow a grant and its WAIT, after they have found the grant; never sent by itself. It
-- continues if the epoch was opened anew: then the script releases what was granted.
--
-- The script has the local `epoch`, its key, and the arguments of unchanged.lua.

-- The common case ends here. It does not matter whose epoch this is: other data that contain this very token come from
-- a master that knows of the grant.
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
