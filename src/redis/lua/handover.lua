-- Included in front of the scripts that queue waiters or serve them; never sent by itself.
--
-- A contended lock has a queue: a sorted set of waiters by ticket (arrival), and a hash with each waiter's last sign of life, when
-- it was last notified to try (both in us of this server's clock, 0: not since that sign), the number of that sign, and the inbox
-- that its process listens to. Both keys go with the last waiter.

-- A waiter gives a sign of life about every 2 s (the client's LOOK_AGAIN); after STALE us without one it is taken for dead.
-- A grant that is not accepted lasts GRACE ms. That is no shorter than STALE, so that of all waiters that vanished before
-- it was made, none looks alive when it ends: together they cost the others one GRACE, not one each.
local STALE = 3000000
local GRACE = 3000
-- A queue whose waiters are all gone expires after FORGET ms.
local FORGET = 60000

-- The lock's value, or the error of a key of another type, which is another library's lock; other errors end the script.
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
	redis.call('HSET', waiters, waiter, string.format('%.0f %.0f %s %s', sign, told, number, inbox))
end

local function forget(queue, waiters, waiter)
	redis.call('ZREM', queue, waiter)
	redis.call('HDEL', waiters, waiter)
end

-- Returns 1 when it was not in the queue before. A user without the right to leave the queue does not enter it.
local function enter(queue, waiters, waiter, ticket)
	if redis.call('ZSCORE', queue, waiter) then
		return 0
	end
	forget(queue, waiters, waiter)
	return redis.call('ZADD', queue, 'NX', ticket, waiter)
end

-- Makes the first live waiter the next. With a fence it is granted the lock from now on, for GRACE, and leaves the queue; the message
-- has the number of its last sign, so that an old grant differs from one made after that, and a fencing token.
-- Without, it is notified to try. Dead waiters before it are removed: those without a sign of life, those whose process
-- no longer listens (the message has no receiver), those that were notified and did not come. `self` is not notified,
-- and stays. Returns the waiter, or nil if there is none; with a fence, the lock may have been deleted then.
-- Cost: O(log n) for each waiter looked at; normally one.
local function serve(lock, queue, waiters, fence, self)
	local now, tried
	while true do
		local first = redis.call('ZRANGE', queue, 0, 0)[1]
		if not first or first == self then
			if tried then
				redis.call('DEL', lock)
			end
			return first
		end
		now = now or clock()
		local sign, told, number, inbox = string.match(redis.call('HGET', waiters, first) or '', '^(%d+) (%d+) (%d+) (.*)$')
		local live = sign and now - sign < STALE
		if live and fence then
			-- The reader of the message holds the lock: after it is sent, nothing may fail that has to be true then.
			tried = redis.call('SET', lock, first, 'PX', GRACE)
			local token = fencing_token(fence, now)
			forget(queue, waiters, first)
			if redis.call('PUBLISH', inbox, string.format('%s %s %.0f', first, number, token)) > 0 then
				return first
			end
		elseif live and (told == '0' or now - told < GRACE * 1000) and redis.call('PUBLISH', inbox, first) > 0 then
			if told == '0' then
				note(waiters, first, sign, now, number, inbox)
			end
			return first
		else
			forget(queue, waiters, first)
		end
	end
end
