-- acquire.lua for a server that fails over. It grants in a settled epoch only, and its reply counts once replicas have
-- confirmed it (WAIT).
--
-- keys: lock fence queue waiters epoch
-- args: dlock_attempt *attempt { token:text ttl:lease } dlock_epoch_rule guard { time:ms resyncs:''|'-'? }
-- args: attempt { inbox:inbox? ticket:count?inbox number:int?inbox }
--
-- guard.time: no lease of this client is longer. resyncs '-': full resynchronizations do not count (epoch.lua). Other
-- arguments: acquire.lua.
-- Replies what acquire.lua does; in an unsettled epoch {…, ms until it is settled (-1: not confirmed), replid, settles}
-- (epoch.lua). The fence just counts: settle.lua has raised it to the time at which the epoch settles, above all tokens
-- of earlier masters. Cost: O(1), six commands, one of them INFO, for a free lock without waiters; O(log n) with n
-- waiters.
local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, least = ARGV[1], ARGV[2], ''
local mine, queued, counted = false

local function grant()
	mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)
	queued = mine and redis.pcall('EXISTS', queue)
	counted = queued == 0 and redis.pcall('INCR', fence)
end

-- The common case ends here: even defining what follows costs time.
local epoch, guard = KEYS[5], ARGV[3]
--#include settled.lua
local done, reply = false, queued
if queued == 0 then
	done, reply = pcall(next_token)
	if done then
		return reply
	end
end
--#include contend.lua
