-- Included in scripts to which a client names a fencing token; never sent by itself.

-- Scripts count exactly up to 2^53. No clock proposes more than 2^52 (fencing.lua), and from there each token adds 1.
-- So a token of 2^53 - 2^50 or more was forged, and no server is raised to it. Below that, a server has 2^50 tokens
-- left.
local function is_forged(token)
	return not (tonumber(token) < 7881299347898368)
end

local FORGED = 'ERR no fencing token can be as large as this one'

--#include fencing.lua
-- Raises the fence to the token, if it is less. `last` is what the fence was.
local function raise_fence(fence, token, last)
	if tonumber(last or 0) < tonumber(token) then
		redis.call('SET', fence, token)
	end
	if not last then
		raise_lost(fence, token)
	end
end
