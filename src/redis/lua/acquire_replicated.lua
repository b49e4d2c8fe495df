-- acquire.lua for a server that fails over: it grants in a settled era only, and what it replies counts once replicas have confirmed it (WAIT).
--
-- keys: 5
-- KEYS[1] to KEYS[4], ARGV[1] and ARGV[2], ARGV[5] to ARGV[7]: as in acquire.lua
-- KEYS[5] the era
-- ARGV[3] the guard in ms: no lease of this client is longer          ARGV[4] '-': full copies do not count (era.lua)
-- Replies what acquire.lua does; in an unsettled era, {…, ms until it is settled, or -1: not confirmed, replid, settles} (era.lua). The fence just counts:
-- settle.lua has brought it to the time at which the era settles, above all that other masters gave out before.
-- Cost: O(1), six commands, one of them INFO, for a free lock that nobody waits for; O(log n) with n waiters.
--#include era.lua
local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, least = ARGV[1], ARGV[2], ''
local unsettled, replid, settles = look_at_era(KEYS[5], ARGV[3], ARGV[4] ~= '-')
local mine = unsettled == 0 and redis.call('SET', lock, token, 'NX', 'PX', ttl)
local queued = mine and redis.pcall('EXISTS', queue)
local done, reply = false, queued
--#include fencing.lua
local function next_token()
	local counted = redis.call('INCR', fence)
	return counted > 1 and counted or tonumber(fencing_token(fence, clock()))
end
if queued == 0 then
	done, reply = pcall(next_token)
	if done then
		return reply
	end
end
--#include contend.lua
