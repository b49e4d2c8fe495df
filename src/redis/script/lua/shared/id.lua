-- Included in the scripts that show holders and waiters; never sent by itself.

-- The part of a token that may be shown: its first 24 digits, after which 80 random bits follow (base/token.h). A '*'
-- in front marks a waiter for several locks (handover.lua). Other values, of another program or without an origin, are
-- shown as a digest, because a client could release the lock with the value itself.
local function id_of(value)
	local digits = string.match(value, '^9999999999:(.*)$') or string.match(value, '^%*(.*)$') or value
	if #digits == 44 and not string.find(digits, '[^0-9a-f]') then
		return string.sub(digits, 1, 24)
	end
	return 'x' .. string.sub(redis.sha1hex(value), 1, 23)
end
