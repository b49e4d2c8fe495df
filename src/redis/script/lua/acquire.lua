-- Takes the lock if it is free and no live waiter is ahead; otherwise queues, if an inbox is given.
-- A waiter runs it again when its turn may have come, and as its sign of life.
--
-- keys: 4
-- KEYS[1] the lock            KEYS[2] the fence: the last fencing token that this server gave out
-- KEYS[3] the queue           KEYS[4] the waiters
-- ARGV[1] the token           ARGV[2] lease time in ms
-- The others may be '', and left out from any of them on:
-- ARGV[3] the least fencing token; 0: the server's time in us. Over several servers the client proposes one and the
--         same, so that their tokens normally agree. '': the fence may just count on; docs/how-it-works.md says when
-- ARGV[4] 0: the next waiter is notified to try (several servers). '': it is granted the lock
-- ARGV[5] the waiter's inbox; '': do not queue
-- ARGV[6] the waiter's ticket, which orders the queue; '': the server's time in us. Over several servers it is the
--         largest of theirs, the same everywhere: see next_ticket()
-- ARGV[7] the number of this request, as a sign of life
-- ARGV[8] the waiter; '': the token
-- ARGV[9] 1: locks are shared with older code that knows no queue (docs/legacy.md); the token has a prefix then
-- ARGV[10] 1: the waiter cannot be notified here, and looks at intervals: its position is asked for, however far off
--         the lease's end is
--
-- Replies the fencing token when the lock is the token's, {ms until it may be free, position in the queue, ticket,
-- 1 if it was not in the queue before} when not; negative ms: unknown. With ARGV[9] they are unknown for a holder of
-- another kind: it may release at any time, and notifies nobody. Over several servers, a request that does not queue
-- gets the next ticket. A repeated request finds its own token and gets a new lease, so that a lost reply, or a lost
-- grant, does no harm. Cost: O(1), three to six commands, for a free lock that nobody waits for; O(log n) with n
-- waiters.
local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''

-- What cannot be done, for want of a right perhaps, ends the script before its first write, or what was written is
-- rolled back.
local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)
local queued = mine and redis.pcall('EXISTS', queue)
if queued == 0 and least == '' then
	local counted = redis.pcall('INCR', fence)
	if type(counted) == 'number' and counted > 1 then -- it was not lost
		return counted
	end
end

-- The common case ends here: even to define what follows costs time.
--#include fencing.lua
local function next_token()
	return tonumber(fencing_token(fence, (least == '' or least == '0') and clock() or least))
end
local done, reply = false, queued
if queued == 0 then
	done, reply = pcall(next_token)
	if done then
		return reply
	end
end

local unsettled = 0 -- no era: nothing fails over to this server
--#include contend.lua
