-- Included where a client names a fencing token; never sent by itself.

-- Scripts count exactly up to 2^53. No clock proposes more than 2^52 (fencing.lua), and from there the tokens rise by one each time:
-- so one of 2^53 - 2^50 or more was forged, and no server is raised to it. From any other it can count on for ever.
local function is_forged(token)
	return not (tonumber(token) < 7881299347898368)
end

local FORGED = 'ERR no fencing token can be as large as this one'
