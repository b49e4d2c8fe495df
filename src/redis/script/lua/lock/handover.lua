-- Included in scripts that queue waiters or serve them; never sent by itself.
--
-- A contended lock has a queue: a sorted set of waiters by ticket (arrival), and a hash with an entry for each waiter:
-- its last sign of life, and when it was last notified to try (both in us of this server's clock, 0: not since that
-- sign). After these come the number of that sign, the inbox that its process listens to, its host's name and a label.
-- Both keys go with the last waiter.

-- A waiter gives a sign of life at least every LOOK_AGAIN ms (src/redis/lock/wait.c). STALE us after the last one it
-- counts as dead. A grant that its waiter does not accept lasts GRACE ms. That is no shorter than STALE, so no waiter
-- that vanished before the grant still looks alive when the grant expires. Together such waiters cost the other waiters
-- one GRACE, not one each.
local LOOK_AGAIN = 2300
local STALE = 3000000
local GRACE = 3000
-- A script removes this number of dead waiters at most, because it keeps all other clients waiting.
local MOST_DEAD = 100
-- A queue without live waiters expires after FORGET ms, or half of that.
local FORGET = 60000

-- A waiter for several locks at once is in all their queues, as '*' and its token, with one ticket. It is not granted
-- one of them but told to ask for all (several_acquire.lua), because a script may only touch keys that it was given. At
-- first the waiter is asleep: its score is its ticket + ASLEEP, after all tickets, and locks are granted past it. When
-- no waiter with a smaller ticket is left in any of its queues, it is awake: its score is its ticket in all of them.
-- From then on, each of its locks that becomes free is kept for it. So any two waiters are in the same order in all
-- queues that they share: no waiters wait in a circle, and none starves.
local ASLEEP = 4000000000000000

local function is_for_several(waiter)
	return string.byte(waiter) == 42 -- '*'
end

-- Returns the lock's value, or the error if the key has another type and so is another library's lock. Other errors end
-- the script.
local function value_of(lock)
	local value = redis.pcall('GET', lock)
	if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then
		error(value.err, 0)
	end
	return value
end

--#include failure.lua

-- Frees the lock with whichever right the user has: now, or within 1 ms.
local function free(lock)
	if type(redis.pcall('DEL', lock)) == 'table' then
		redis.pcall('SET', lock, '', 'PX', 1)
	end
end

local function note(waiters, waiter, sign, told, number, inbox)
	redis.call('HSET', waiters, waiter, sign .. ' ' .. told .. ' ' .. number .. ' ' .. inbox)
end

local function forget(queue, waiters, waiter)
	redis.call('ZREM', queue, waiter)
	redis.call('HDEL', waiters, waiter)
end

-- Returns the first waiter. A waiter that is to be granted the lock leaves the queue, which needs no memory. If memory
-- is full, only a script that has already written may go on to writes that need some.
local function take_first(queue, grant)
	return unpack(grant and redis.call('ZPOPMIN', queue) or redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))
end

-- A waiter could not be notified, because the user may not publish: it looks at intervals. If it was popped, it returns
-- to its place.
local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)
	redis.call('ZADD', queue, ticket, waiter)
	note(waiters, waiter, sign, '0', number, inbox)
	redis.call('PEXPIRE', queue, FORGET)
	redis.call('PEXPIRE', waiters, FORGET)
end

-- Is this waiter for several locks alive? Then it is told to ask, once until it has done so. `quietly`: it is not told,
-- because it already knows that the lock is free. A dead waiter is forgotten.
local function reach(queue, waiters, waiter, quietly)
	local now, state = clock(waiters), redis.call('HGET', waiters, waiter) or ''
	local sign, told, number, inbox = string.match(state, '^(%d+) (%d+) (%d+) (.*)$')
	local live = sign and now - sign < STALE and (told == '0' or now - told < GRACE * 1000)
	if live and told == '0' and not quietly then
		local receivers = redis.pcall('PUBLISH', string.match(inbox, '^%S*'), waiter)
		if type(receivers) == 'number' then -- otherwise the waiter looks at intervals
			live = receivers > 0
			if live then
				note(waiters, waiter, sign, now, number, inbox)
			end
		end
	end
	if not live then
		forget(queue, waiters, waiter)
	end
	return live
end

-- Called after a waiter has left the queue. If the first of the waiters that are asleep is now the first of all, it may
-- be so in all its queues, and is told to ask. These waiters are at the end of the queue. If there are none, or the
-- user may not look, no command runs that needs another right. `self` knows by itself.
local function wake(queue, waiters, self)
	local last, score = unpack(redis.pcall('ZRANGE', queue, -1, -1, 'WITHSCORES'))
	while last and is_for_several(last) and tonumber(score) >= ASLEEP do
		local asleep = redis.pcall('ZRANGEBYSCORE', queue, ASLEEP, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
		local first = asleep[1]
		local before = first and redis.pcall('ZCOUNT', queue, '-inf', string.format('(%.0f', asleep[2] - ASLEEP))
		if before ~= 0 or first == self or reach(queue, waiters, first) then
			return
		end
	end
end

-- Makes the first live waiter the next holder. With a fence, it is granted the lock from now on, for GRACE, and leaves
-- the queue. The message has the number of its last sign, so that an old grant differs from a later one, and a fencing
-- token. Without a fence, the waiter is notified to try.
--
-- Dead waiters in front are removed: they gave no sign of life, their process no longer listens (the message has no
-- receiver), or they were notified and did not come. `self` is not notified, and stays. For a waiter for several locks
-- that is awake, the lock is made free and kept, and that waiter is told, unless `quietly`. `first` and `ticket` are
-- the results of take_first().
--
-- Returns the waiter, or nothing if there is none, or if the user may not publish: then the next client that asks
-- acquires the lock. With a fence and nothing returned, the key may still name a dead waiter, or one that looks at
-- intervals. The second result is true if MOST_DEAD waiters were removed. Live ones may be behind them, which find the
-- lock free when they look. Cost: O(log n) for each waiter looked at; normally one.
local function serve(lock, queue, waiters, fence, self, quietly, first, ticket)
	local now, dead
	while first and first ~= self do
		now = now or clock(waiters)
		if is_for_several(first) and fence then
			redis.call('ZADD', queue, ticket, first)
			redis.call('PEXPIRE', queue, FORGET)
		end
		if is_for_several(first) and tonumber(ticket) >= ASLEEP then
			return nil
		elseif is_for_several(first) and reach(queue, waiters, first, quietly) then
			if fence then
				redis.call('DEL', lock)
			end
			return first
		end
		local state = redis.call('HGET', waiters, first) or ''
		local sign, told, number, inbox = string.match(state, '^(%d+) (%d+) (%d+) (.*)$')
		local live, channel = sign and now - sign < STALE, string.match(inbox or '', '^%S*')
		if live and fence then
			-- The waiter that reads the message holds the lock. So all commands that may fail come before the message.
			redis.call('HDEL', waiters, first)
			redis.call('SET', lock, first, 'PX', GRACE)
			local token = fencing_token(fence, now)
			local receivers = redis.pcall('PUBLISH', channel, first .. ' ' .. number .. ' ' .. token)
			if type(receivers) == 'table' then
				return put_back(queue, waiters, first, ticket, sign, number, inbox)
			elseif receivers > 0 then
				return first
			end
		else
			local receivers = live and (told == '0' or now - told < GRACE * 1000)
				and redis.pcall('PUBLISH', channel, first) or 0
			if type(receivers) == 'table' then
				return nil
			elseif receivers > 0 then
				if told == '0' then
					note(waiters, first, sign, now, number, inbox)
				end
				return first
			end
			forget(queue, waiters, first)
		end
		dead = (dead or 0) + 1
		if dead == MOST_DEAD then
			return nil, true
		end
		first, ticket = take_first(queue, fence)
	end
	return first
end
