-- Takes the lock if it is free and no live waiter is ahead; otherwise queues, if an inbox is given.
-- A waiter runs it again whenever it has a reason to think that its turn has come, and as its sign of life.
--
-- KEYS[1] the lock            KEYS[2] the fence: the last fencing token that this server gave out
-- KEYS[3] the queue           KEYS[4] the waiters
-- ARGV[1] the token           ARGV[2] lease time in ms
-- ARGV[3] the least fencing token; 0: the server's time in us. Over several servers the client proposes one and the same,
--         so that their tokens normally agree
-- ARGV[4] 1: whose turn it is, is granted the lock; 0: is told to try (several servers)
-- ARGV[5] the waiter (with grants: the token)
-- ARGV[6] the waiter's inbox; '': do not queue
-- ARGV[7] the waiter's ticket; 0: the server's time in us        ARGV[8] the number of this request, as a sign of life
-- ARGV[9] 1: locks are shared with older code that knows no queue (docs/legacy.md); the token has a prefix then. Otherwise left out
--
-- Replies {1, fencing token} when the lock is the token's, {0, ms until it may be free, place in the queue, ticket,
-- 1 if it was not in the queue before} when not; negative ms: unknown. With ARGV[9] they are unknown beside every holder of
-- another kind: it may go at any time, and tells nobody.
-- A repeated request finds its own token and gets a lease anew, so that a lost reply, or a lost grant, does no harm.
-- Cost: O(1), four commands, for a free lock that nobody waits for; O(log n) with n waiters.
--#include fencing.lua
local lock, fence, queue, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, ttl, least = ARGV[1], ARGV[2], tonumber(ARGV[3])
local grant, waiter, inbox, ticket = ARGV[4] == '1', ARGV[5], ARGV[6], ARGV[7]

local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)
if mine and redis.call('EXISTS', queue) == 0 then
	return {1, fencing_token(fence, least == 0 and clock() or least)}
end

-- What follows costs more, to define alone; the common case is over.
--#include handover.lua
local holder, others = not mine and value_of(lock), false
if holder and ARGV[9] == '1' then
	-- Ended by the older code's own rule: $value < time(), where nothing but the value says when. Ten digits: a 1 that is
	-- still to get its EXPIRE is no time. A whole number of seconds is greater than a fraction if it is than its whole part.
	local ends = type(holder) == 'string' and (string.match(holder, '^(%d+)$') or string.match(holder, '^(%d+)%.%d+$'))
	if ends and #ends == 10 and tonumber(ends) < tonumber(redis.call('TIME')[1]) and redis.call('PTTL', lock) == -1 then
		redis.call('SET', lock, token, 'PX', ttl)
		mine = true
	else
		others = type(holder) ~= 'string' or string.sub(holder, 1, 11) ~= string.sub(token, 1, 11)
	end
end
if mine then
	-- Free with waiters: its holder died, another client deleted it, or (several servers) its next holder is on the way.
	-- Who has a ticket keeps the place that goes with it, here too: else each of two could be first on other servers.
	if ticket ~= '0' then
		redis.call('ZADD', queue, 'NX', ticket, waiter)
	end
	local first = serve(lock, queue, waiters, grant and fence, waiter)
	if not first or first == waiter then
		forget(queue, waiters, waiter)
	else
		mine = false
		if not grant then
			redis.call('DEL', lock)
		end
		if inbox == '' then
			forget(queue, waiters, waiter)
		end
	end
elseif holder == token then
	redis.call('PEXPIRE', lock, ttl)
	mine = true
elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then
	return holder -- not a string, and it never ends: no lock of anybody's
end
if not mine then
	local pttl = redis.call('PTTL', lock)
	pttl = pttl == -2 and GRACE or others and -1 or pttl
	if inbox == '' then
		return {0, pttl, -1, '0', 0}
	end
	local new = redis.call('ZADD', queue, 'NX', ticket == '0' and string.format('%.0f', clock()) or ticket, waiter)
	note(waiters, waiter, clock(), 0, ARGV[8], inbox)
	redis.call('PEXPIRE', queue, FORGET)
	redis.call('PEXPIRE', waiters, FORGET)
	return {0, pttl, redis.call('ZRANK', queue, waiter), redis.call('ZSCORE', queue, waiter), new}
end

return {1, fencing_token(fence, least == 0 and clock() or least)}
