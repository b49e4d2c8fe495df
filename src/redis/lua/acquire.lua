-- Takes the lock if it is free and no live waiter is ahead; otherwise queues, if an inbox is given.
-- A waiter runs it again when its turn may have come, and as its sign of life.
--
-- keys: 4
-- KEYS[1] the lock            KEYS[2] the fence: the last fencing token that this server gave out
-- KEYS[3] the queue           KEYS[4] the waiters
-- ARGV[1] the token           ARGV[2] lease time in ms
-- The others may be '', and left out from any of them on:
-- ARGV[3] the least fencing token; 0: the server's time in us. Over several servers the client proposes one and the same,
--         so that their tokens normally agree. '': the fence may just count on; docs/how-it-works.md says when
-- ARGV[4] 0: the next waiter is notified to try (several servers). '': it is granted the lock
-- ARGV[5] the waiter's inbox; '': do not queue
-- ARGV[6] the waiter's ticket, which orders the queue; '': the server's time in us. Over several servers it is the largest of
--         theirs, the same everywhere: see next_ticket()
-- ARGV[7] the number of this request, as a sign of life
-- ARGV[8] the waiter; '': the token
-- ARGV[9] 1: locks are shared with older code that knows no queue (docs/legacy.md); the token has a prefix then
--
-- Replies the fencing token when the lock is the token's, {ms until it may be free, position in the queue, ticket,
-- 1 if it was not in the queue before} when not; negative ms: unknown. With ARGV[9] they are unknown for a holder of another
-- kind: it may release at any time, and notifies nobody. Over several servers, a request that does not queue gets the next ticket.
-- A repeated request finds its own token and gets a new lease, so that a lost reply, or a lost grant, does no harm.
-- Cost: O(1), three to six commands, for a free lock that nobody waits for; O(log n) with n waiters.
local lock, fence, queue = KEYS[1], KEYS[2], KEYS[3]
local token, ttl, least = ARGV[1], ARGV[2], ARGV[3] or ''

-- What cannot be done, for want of a right perhaps, ends the script before its first write, or what was written is rolled back.
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

--#include handover.lua
local waiters, grant, inbox, ticket = KEYS[4], ARGV[4] ~= '0', ARGV[5] or '', ARGV[6] or ''
local waiter = (ARGV[8] or '') == '' and token or ARGV[8]

-- After all that wait here, and all that have held a lock here: as in Lamport's bakery (A New Solution of Dijkstra's Concurrent
-- Programming Problem, 1974), a waiter with the largest of several servers' numbers comes after every waiter that had its number,
-- and was queued, at one of them. No client's clock has a part in it. Equal numbers are ordered by name. Never beyond 2^53,
-- where scores are no longer exact; a fence beyond that is no token.
local function next_ticket()
	local last = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0
	local given = tonumber(redis.call('GET', fence) or 0) or 0
	return string.format('%.0f', math.min((given > last and given < 9007199254740991 and given or last) + 1, 9007199254740991))
end

-- Returns 1 when it was not in the queue before. With `checks`, a user without the right to leave the queue does not enter it.
local function enter(queue, waiters, waiter, ticket, checks)
	if checks then
		forget(queue, waiters, waiter)
	end
	return redis.call('ZADD', queue, 'NX', ticket, waiter)
end

local function contend()
	local holder, others = not mine and value_of(lock), false
	if holder and ARGV[9] == '1' then
		-- Ended by the older code's own rule: $value < time(), where only the value says when. Ten digits: a 1 that has yet to
		-- get its EXPIRE is no time. A whole number of seconds is greater than a fraction if it is greater than its whole part.
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
		-- A waiter with a ticket keeps its position here, too: otherwise each of two could be first on other servers.
		if ticket ~= '' and not redis.call('ZSCORE', queue, waiter) then
			enter(queue, waiters, waiter, ticket, true)
		end
		local first = serve(lock, queue, waiters, grant and fence, waiter, take_first(queue, grant))
		if not first or first == waiter then
			forget(queue, waiters, waiter)
			if grant then
				redis.call('SET', lock, token, 'PX', ttl)
			end
		else
			if not grant then
				redis.call('DEL', lock)
			end
			mine = false
			if inbox == '' then
				forget(queue, waiters, waiter)
			end
		end
	elseif holder == token then
		mine = true
		redis.call('PEXPIRE', lock, ttl)
	elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then
		return holder -- not a string, and it never ends: no lock of anybody's
	end
	if mine then
		return next_token()
	end
	local pttl = redis.call('PTTL', lock)
	pttl = pttl == -2 and GRACE or others and -1 or pttl
	if inbox == '' then
		return {pttl, -1, not grant and ticket == '' and next_ticket() or '0', 0}
	end
	local now, left = clock(), redis.call('PTTL', queue)
	local new = enter(queue, waiters, waiter, ticket == '' and now or ticket, left == -2)
	note(waiters, waiter, now, '0', ARGV[7], inbox)
	if left < FORGET / 2 then
		redis.call('PEXPIRE', queue, FORGET)
		redis.call('PEXPIRE', waiters, FORGET)
	end
	-- The position tells the waiters apart who look when the lease ends: none does when that is far off.
	return {pttl, (left == -2 or pttl > LOOK_AGAIN) and 0 or redis.call('ZRANK', queue, waiter),
		new == 1 and ticket == '' and now or redis.call('ZSCORE', queue, waiter), new}
end

if not mine or queued == 1 then
	done, reply = pcall(contend)
	if done then
		return reply
	end
end
if mine then
	free(lock)
end
if inbox ~= '' or ticket ~= '' then
	redis.pcall('ZREM', queue, waiter)
	redis.pcall('HDEL', waiters, waiter)
end
return failure(reply)
