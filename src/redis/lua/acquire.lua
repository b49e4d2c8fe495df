-- Takes the lock if it is free and no live waiter is ahead; otherwise queues, if an inbox is given.
-- A waiter runs it again when its turn may have come, and as its sign of life.
--
-- keys: 4
-- KEYS[1] the lock            KEYS[2] the fence: the last fencing token that this server gave out
-- KEYS[3] the queue           KEYS[4] the waiters
-- ARGV[1] the token           ARGV[2] lease time in ms
-- ARGV[3] the least fencing token; 0: the server's time in us. Over several servers the client proposes one and the same,
--         so that their tokens normally agree
-- ARGV[4] 1: the next waiter is granted the lock; 0: it is notified to try (several servers)
-- ARGV[5] the waiter (with grants: the token)
-- ARGV[6] the waiter's inbox; '': do not queue
-- ARGV[7] the waiter's ticket, which orders the queue; 0: the server's time in us. Over several servers it is the largest of
--         theirs, the same everywhere: see next_ticket()
-- ARGV[8] the number of this request, as a sign of life
-- ARGV[9] 1: locks are shared with older code that knows no queue (docs/legacy.md); the token has a prefix then. Otherwise left out
--
-- Replies {1, fencing token} when the lock is the token's, {0, ms until it may be free, position in the queue, ticket,
-- 1 if it was not in the queue before} when not; negative ms: unknown. With ARGV[9] they are unknown for a holder of another
-- kind: it may release at any time, and notifies nobody. Over several servers, a request that does not queue gets the next ticket.
-- A repeated request finds its own token and gets a new lease, so that a lost reply, or a lost grant, does no harm.
-- Cost: O(1), four commands, for a free lock that nobody waits for; O(log n) with n waiters.
--#include fencing.lua
local lock, fence, queue, waiters = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local token, ttl, least = ARGV[1], ARGV[2], tonumber(ARGV[3])
local grant, waiter, inbox, ticket = ARGV[4] == '1', ARGV[5], ARGV[6], ARGV[7]

-- A right that the user does not have is found out before the first write, or what was written is rolled back.
local queued = redis.call('EXISTS', queue) == 1
if least == 0 then
	least = clock()
end
local mine = redis.call('SET', lock, token, 'NX', 'PX', ttl)
local done, reply
if mine and not queued then
	done, reply = pcall(fencing_token, fence, least)
	if done then
		return {1, reply}
	end
end

-- The common case ends here: even to define what follows costs time.
--#include handover.lua

-- After all that wait here, and all that have held a lock here: as in Lamport's bakery (A New Solution of Dijkstra's Concurrent
-- Programming Problem, 1974), a waiter with the largest of several servers' numbers comes after every waiter that had its number,
-- and was queued, at one of them. No client's clock has a part in it. Equal numbers are ordered by name. Never beyond 2^53,
-- where scores are no longer exact; a fence beyond that is no token.
local function next_ticket()
	local last = tonumber(redis.call('ZRANGE', queue, -1, -1, 'WITHSCORES')[2]) or 0
	local given = tonumber(redis.call('GET', fence) or 0) or 0
	return string.format('%.0f', math.min((given > last and given < 9007199254740991 and given or last) + 1, 9007199254740991))
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
		if ticket ~= '0' then
			enter(queue, waiters, waiter, ticket)
		end
		local first = serve(lock, queue, waiters, grant and fence, waiter)
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
		return {1, fencing_token(fence, least)}
	end
	local pttl = redis.call('PTTL', lock)
	pttl = pttl == -2 and GRACE or others and -1 or pttl
	if inbox == '' then
		return {0, pttl, -1, not grant and ticket == '0' and next_ticket() or '0', 0}
	end
	local new = enter(queue, waiters, waiter, ticket == '0' and string.format('%.0f', clock()) or ticket)
	note(waiters, waiter, clock(), 0, ARGV[8], inbox)
	redis.call('PEXPIRE', queue, FORGET)
	redis.call('PEXPIRE', waiters, FORGET)
	return {0, pttl, redis.call('ZRANK', queue, waiter), redis.call('ZSCORE', queue, waiter), new}
end

if queued or not mine then
	done, reply = pcall(contend)
	if done then
		return reply
	end
end
if mine then
	free(lock)
end
if inbox ~= '' or ticket ~= '0' then
	redis.pcall('ZREM', queue, waiter)
	redis.pcall('HDEL', waiters, waiter)
end
return failure(reply)
