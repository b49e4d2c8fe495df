-- Gives a held lock another token, for the lease time that is left: the old one holds it no longer.
--
-- keys: 2
-- KEYS[1] the lock            KEYS[2] the fence
-- ARGV[1] the old token       ARGV[2] the new token
-- ARGV[3] the least fencing token, as in acquire.lua; '': none is given out, since an exchange is rolled back
-- Replies {1, fencing token, ms left} when the lock was the old token's or is the new one's already, {0} when it is neither's.
-- A repeated request finds its new token, so that a lost reply does no harm.
-- Cost: O(1), five or six commands.
--#include fencing.lua
--#include failure.lua
local lock, fence, old, new, least = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]
local holder, pttl = redis.call('GET', lock), redis.call('PTTL', lock)

if pttl < 1 or (holder ~= old and holder ~= new) then
	return {0}
end
if least == '0' then
	least = clock()
end
redis.call('SET', lock, new, 'PX', pttl) -- KEEPTTL came with Redis 6
local done, token = true, 0
if least ~= '' then
	done, token = pcall(fencing_token, fence, least)
end
if not done then
	redis.call('SET', lock, holder, 'PX', pttl)
	return failure(token)
end
return {1, tonumber(token), pttl}
