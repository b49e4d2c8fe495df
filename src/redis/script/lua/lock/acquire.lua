-- Acquires the lock if it is free and no live waiter is ahead. Otherwise queues, if an inbox is given. A waiter repeats
-- the script when its turn may have come, and as its sign of life.
--
-- keys: lock fence queue waiters
-- args: dlock_attempt *attempt { token:text ttl:lease least_fencing_token:int? grant:''|'0'? inbox:inbox? ticket:count?
-- args: number:int?inbox waiter:text? legacy:'1'|''? unnotified:'1'|''? }
--
--   least_fencing_token  0: the server's time in us. With several servers the client proposes the same to all, so that
--                        their tokens normally agree. '': the fence may just count on; docs/how-it-works.md says when
--   grant                0: the next waiter is notified to try (several servers). '': it is granted the lock
--   inbox                '': do not queue. After it comes what the waiter says about itself
--   ticket               orders the queue. '': the server's time in us. With several servers it is the largest of the
--                        servers' tickets, the same everywhere: see next_ticket.lua
--   number               of this request, as a sign of life
--   waiter               '': the token
--   legacy               1: the locks are shared with older code that knows no queue (docs/legacy.md); the token has a
--                        prefix then
--   unnotified           1: the waiter cannot be notified here, and looks at intervals. It needs its position, however
--                        far off the lease's end is
--
-- Replies the fencing token if the token holds the lock now. Otherwise {ms until the lock may be free, position in the
-- queue, ticket, 1 if the waiter was not in the queue before}; negative ms: unknown. With `legacy` the ms are unknown
-- if the holder is of another kind: it may release at any time, and notifies no waiter. With several servers, a request
-- that does not queue is told the next ticket. A repeated request finds its own token and begins a new lease, so a lost
-- reply or a lost grant does no harm.
-- Cost: O(1), three to six commands, for a free lock without waiters; O(log n) with n waiters.
local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''

-- If a command fails, perhaps because the user has no right to it, the script ends before its first write or rolls
-- back.
local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)
local queued = mine and redis.pcall('EXISTS', queue)
if queued == 0 and least == '' then
	local counted = redis.pcall('INCR', fence)
	if type(counted) == 'number' and counted > 1 then -- the fence was not lost
		return counted
	end
end

-- The common case ends here: even defining what follows costs time.
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

local unsettled = 0 -- no epoch: nothing fails over to this server
--#include contend.lua
