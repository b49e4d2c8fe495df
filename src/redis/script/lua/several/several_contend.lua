-- Included after the heads of several_acquire.lua and several_acquire_replicated.lua; never sent by itself. It
-- continues if not all of the locks are free, a client waits, or a command has failed.
--
-- The head has the locals n, fence, token, ttl, next_token(), inbox, ticket, number, grant; `me`: its name in the
-- queues; `free_now`: no client held or waited; `failed`: the error of setting them; `unsettled`, `replid` and
-- `settles`: as in contend.lua.
--#include handover.lua
--#include next_ticket.lua
--#include note_seen.lua
local function leave_queues()
	for i = 1, n, 3 do
		forget(KEYS[i + 1], KEYS[i + 2], me)
		wake(KEYS[i + 1], KEYS[i + 2])
	end
end

-- Returns the other waiter that is the next for this free lock, if there is one. A waiter that is asleep is not,
-- because this one may be asleep behind it. The second result is that of serve().
local function next_of(lock, queue, waiters)
	local first, score = unpack(redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))
	if not first or first == me or is_for_several(first) and tonumber(score) >= ASLEEP then
		return nil
	end
	local next, more = serve(lock, queue, waiters, grant and fence, me, true, take_first(queue, grant))
	if grant then
		wake(queue, waiters, me) -- the next waiter has left the queue
	end
	return next ~= me and next, more
end

-- Returns the ms until the last of the locks may be free, or false if all of them may be acquired. If one is another
-- library's, returns its error.
local function look()
	local taken, unknown, pttl = false, false, 0
	for i = 1, n, 3 do
		local lock = KEYS[i]
		local holder = value_of(lock)
		if holder and holder ~= token then
			local left = redis.call('PTTL', lock)
			if type(holder) == 'table' and left == -1 then
				return holder
			end
			taken, unknown, pttl = true, unknown or left < 0, math.max(pttl, left)
		elseif not holder and unsettled == 0 then
			local next, more = next_of(lock, KEYS[i + 1], KEYS[i + 2])
			taken, pttl = taken or next or more, math.max(pttl, next and GRACE or 0)
		end
	end
	return (taken or unsettled ~= 0) and (unknown and -1 or pttl)
end

-- A repeated first request has its ticket already.
local function own_ticket(now)
	for i = 2, n, 3 do
		local score = tonumber(redis.call('ZSCORE', KEYS[i], me))
		if score then
			return string.format('%.0f', score < ASLEEP and score or score - ASLEEP)
		end
	end
	return now
end

-- Is this waiter the first in all queues, by its ticket? Several servers can give out equal tickets: of the waiters
-- that are asleep, the first by name is the first.
local function is_first()
	for i = 2, n, 3 do
		local queue = KEYS[i]
		local other, score = unpack(redis.call('ZRANGEBYSCORE', queue, ASLEEP, '+inf', 'WITHSCORES', 'LIMIT', 0, 1))
		if other and other ~= me and score - ASLEEP <= tonumber(ticket) and reach(queue, KEYS[i + 1], other, true)
			or redis.call('ZCOUNT', queue, '-inf', '(' .. ticket) > 0 then
			return false
		end
	end
	return true
end

local new, first = 0, false -- 1: it was in no queue before; true: it is awake

local function take_place()
	first = is_first()
	local score = first and ticket or string.format('%.0f', ticket + ASLEEP)
	for i = 2, n, 3 do
		new = math.max(new, redis.call('ZADD', KEYS[i], score, me))
	end
end

--#include refusal.lua

local function queue_up(pttl)
	local now = clock(KEYS[3])
	ticket = ticket ~= '' and ticket or own_ticket(now)
	take_place()
	for i = 1, n, 3 do
		local queue, waiters = KEYS[i + 1], KEYS[i + 2]
		local left = redis.call('PTTL', queue)
		note(waiters, me, now, '0', number, inbox)
		if left < FORGET / 2 then
			redis.call('PEXPIRE', queue, FORGET)
			redis.call('PEXPIRE', waiters, FORGET)
			note_seen(string.gsub(fence, '^dlock:fence', 'dlock:seen'), KEYS[i], now / 1000, FORGET)
		end
	end
	return refusal(pttl, first and 0 or 1, ticket, new)
end

-- Returns a ticket after all waiters for any of the locks.
local function last_ticket()
	local last = 0
	for i = 2, n, 3 do
		last = math.max(last, tonumber(next_ticket(KEYS[i], fence)))
	end
	return string.format('%.0f', last)
end

local function contend()
	if not grant and ticket ~= '' then
		-- It has left the queues of a server whose vote it had, and comes back with its ticket. Otherwise two waiters
		-- could each be first on different servers.
		take_place()
	end
	local pttl = look()
	if type(pttl) == 'table' then
		return pttl
	elseif not pttl then
		for i = 1, n, 3 do
			redis.call('SET', KEYS[i], token, 'PX', ttl)
		end
		if inbox ~= '' or ticket ~= '' then
			leave_queues()
		end
		return next_token()
	end
	if inbox ~= '' then
		return queue_up(pttl)
	elseif ticket ~= '' and (grant or new == 1) then
		leave_queues()
	end
	return refusal(pttl, -1, not grant and ticket == '' and last_ticket() or '0', 0)
end

local done, reply = true, failed
if not failed then
	done, reply = pcall(free_now and next_token or contend)
end
if done and not (type(reply) == 'table' and reply.err) then
	return reply
end
for i = 1, n, 3 do
	if redis.pcall('GET', KEYS[i]) == token then
		free(KEYS[i])
	end
	if inbox ~= '' or ticket ~= '' then
		redis.pcall('ZREM', KEYS[i + 1], me)
		redis.pcall('HDEL', KEYS[i + 2], me)
	end
end
return failure(reply)
