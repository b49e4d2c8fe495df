-- Included in the scripts that show holders and waiters; never sent by itself.

-- What may be shown of a token: its first 24 digits, behind which 80 random bits follow (base/token.h); '*' in front is
-- of one that waits for several (handover.lua). Of any other value, another program's or one without an origin, a
-- digest, since with the value itself the lock could be released.
local function id_of(value)
	local digits = string.match(value, '^9999999999:(.*)$') or string.match(value, '^%*(.*)$') or value
	if #digits == 44 and not string.find(digits, '[^0-9a-f]') then
		return string.sub(digits, 1, 24)
	end
	return 'x' .. string.sub(redis.sha1hex(value), 1, 23)
end
