-- Included in front of the scripts that queue waiters or serve them; never sent by itself.
--
-- A contended lock has a queue: a sorted set of waiters by ticket (arrival), and a hash with each waiter's last sign of
-- life, when it was last notified to try (both in us of this server's clock, 0: not since that sign), the number of
-- that sign, the inbox that its process listens to, and behind that what it says about itself: its host's name and a
-- label. Both keys go with the last waiter.

-- A waiter gives a sign of life at least every LOOK_AGAIN ms (src/redis/lock/wait.c); after STALE us without one it
-- is taken for dead. A grant that is not accepted lasts GRACE ms. That is no shorter than STALE, so that of all waiters
-- that vanished before it was made, none looks alive when it ends: together they cost the others one GRACE, not one
-- each.
local LOOK_AGAIN = 2300
local STALE = 3000000
local GRACE = 3000
-- A script removes this number of dead waiters at most, for it keeps all other clients waiting.
local MOST_DEAD = 100
-- A queue whose waiters are all gone expires after FORGET ms, or half of that.
local FORGET = 60000

-- Who waits for several locks at once is in all their queues, as '*' and its token, with one ticket. It is not granted
-- one of them but told to ask for all (several_acquire.lua), since a script may not touch keys that were not named to
-- it. It is asleep at first: its score is its ticket and ASLEEP, behind all tickets, and locks are granted past it.
-- Once no waiter with a smaller ticket is left in any of its queues it is awake: its score is the ticket in all of
-- them, and each of its locks that becomes free is kept for it. So any two have the same order in all queues that they
-- share: no waiters wait in a circle, and none starves.
local ASLEEP = 4000000000000000

local function is_for_several(waiter)
	return string.byte(waiter) == 42 -- '*'
end

-- The lock's value, or the error of a key of another type, which is another library's lock; other errors end the
-- script.
local function value_of(lock)
	local value = redis.pcall('GET', lock)
	if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then
		error(value.err, 0)
	end
	return value
end

--#include failure.lua

-- Makes it free with whichever right there is: now, or within 1 ms.
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

-- The first waiter. Where it is to be granted the lock it leaves the queue, which needs no memory: when that is full,
-- only a script that has already written may go on to write what does.
local function take_first(queue, grant)
	return unpack(grant and redis.call('ZPOPMIN', queue) or redis.call('ZRANGE', queue, 0, 0, 'WITHSCORES'))
end

-- A waiter that could not be notified, since the user may not publish, looks at intervals: where it was popped it
-- returns to its place.
local function put_back(queue, waiters, waiter, ticket, sign, number, inbox)
	redis.call('ZADD', queue, ticket, waiter)
	note(waiters, waiter, sign, '0', number, inbox)
	redis.call('PEXPIRE', queue, FORGET)
	redis.call('PEXPIRE', waiters, FORGET)
end

-- Is one alive that waits for several? It is told to ask, once until it has done so; `quietly`: it is not, since it
-- knows already that the lock is free. A dead one is forgotten.
local function reach(queue, waiters, waiter, quietly)
	local now, state = clock(waiters), redis.call('HGET', waiters, waiter) or ''
	local sign, told, number, inbox = string.match(state, '^(%d+) (%d+) (%d+) (.*)$')
	local live = sign and now - sign < STALE and (told == '0' or now - told < GRACE * 1000)
	if live and told == '0' and not quietly then
		local receivers = redis.pcall('PUBLISH', string.match(inbox, '^%S*'), waiter)
		if type(receivers) == 'number' then -- otherwise it looks at intervals
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

-- For who has left the queue: is the first of those asleep the first of all now? Then it may be so in all its queues,
-- and is told to ask. They are at the end of the queue: where none is there, or the user may not look, nothing is asked
-- that needs another right. `self` knows that by itself.
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

-- Makes the first live waiter the next. With a fence it is granted the lock from now on, for GRACE, and leaves the
-- queue; the message has the number of its last sign, so that an old grant differs from one made after that, and a
-- fencing token. Without, it is notified to try. Dead waiters before it are removed: those without a sign of life,
-- those whose process no longer listens (the message has no receiver), those that were notified and did not come.
-- `self` is not notified, and stays. For one that waits for several, and is awake, the lock is kept: it is made free,
-- and that one told, unless `quietly`. `first` and `ticket` are take_first()'s. Returns the waiter, or nothing if there
-- is none, or if the user has no right to publish: the next client to ask gets the lock then. With a fence, it may be a
-- dead waiter's when nothing is returned, or one's that looks. The second result is true when MOST_DEAD were removed:
-- there may be live ones behind them, who find the lock free when they look. Cost: O(log n) for each waiter looked at;
-- normally one.
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
			-- The reader of the message holds the lock: after it is sent, nothing may fail that has to be true then.
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
