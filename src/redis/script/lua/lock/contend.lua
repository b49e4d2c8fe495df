-- Included after the head of an acquire script; never sent by itself. It continues if the lock is not free, a client
-- waits, or a command has failed.
--
-- The head has the locals lock, fence, queue, token, ttl, least, next_token(); `mine`: it has set the key; `queued`:
-- EXISTS of the queue, after that; done, reply: of next_token(), if it has called that; `unsettled`: not 0 if no lock
-- may be granted (epoch.lua), and `replid` and `settles` then.
--#include handover.lua
--#include note_seen.lua
local waiters, grant, inbox, ticket = KEYS[4], ARGV[4] ~= '0', ARGV[5] or '', ARGV[6] or ''
local waiter = (ARGV[8] or '') == '' and token or ARGV[8]

--#include next_ticket.lua

-- Returns 1 if the waiter was not in the queue before. With `checks`, a user without the right to leave the queue does
-- not enter it.
local function enter(queue, waiters, waiter, ticket, checks)
	if checks then
		forget(queue, waiters, waiter)
	end
	return redis.call('ZADD', queue, 'NX', ticket, waiter)
end

--#include refusal.lua
local function contend()
	local holder, others, unsearched, emptied = not mine and value_of(lock), false, false, false
	if holder and ARGV[9] == '1' then
		-- The older code's lock has expired by its own rule, $value < time(), if only the value says when. A time has
		-- ten digits: a 1 that still waits for its EXPIRE is none. time() is whole, so it exceeds a fraction if it
		-- exceeds the fraction's whole part.
		local ends = type(holder) == 'string'
			and (string.match(holder, '^(%d+)$') or string.match(holder, '^(%d+)%.%d+$'))
		if ends and #ends == 10 and tonumber(ends) < tonumber(string.sub(clock(waiters), 1, -7))
			and redis.call('PTTL', lock) == -1 then
			redis.call('SET', lock, token, 'PX', ttl)
			mine = true
		else
			others = type(holder) ~= 'string' or string.sub(holder, 1, 11) ~= string.sub(token, 1, 11)
		end
	end
	if mine then
		-- The lock is free, with waiters: its holder died, another client deleted it, or (several servers) its next
		-- holder is on the way. A waiter with a ticket keeps its position here, too. Otherwise two waiters could each
		-- be first on different servers.
		if ticket ~= '' and not redis.call('ZSCORE', queue, waiter) then
			enter(queue, waiters, waiter, ticket, true)
		end
		local first, more = serve(lock, queue, waiters, grant and fence, waiter, true, take_first(queue, grant))
		unsearched = more
		if not more and (not first or first == waiter) then
			forget(queue, waiters, waiter)
			if grant then
				redis.call('SET', lock, token, 'PX', ttl)
			end
			if ticket ~= '' then
				wake(queue, waiters)
			end
		else
			if not grant or more then
				redis.call('DEL', lock)
			end
			mine, emptied = false, true
			if grant then
				wake(queue, waiters) -- the first waiter has left the queue
			end
			if inbox == '' then
				forget(queue, waiters, waiter)
			end
		end
	elseif holder == token and unsettled == 0 then
		mine = true
		redis.call('PEXPIRE', lock, ttl)
	elseif type(holder) == 'table' and redis.call('PTTL', lock) == -1 then
		return holder -- it is not a string and never expires: no lock of a client
	end
	if mine then
		return next_token()
	end
	local pttl = redis.call('PTTL', lock)
	if unsettled > 0 and (pttl == -2 or holder == token) then
		pttl = 0
	end
	pttl = unsearched and 0 or pttl == -2 and GRACE or others and -1 or pttl
	if inbox == '' then
		return refusal(pttl, -1, not grant and ticket == '' and next_ticket(queue, fence) or '0', 0)
	end
	local now, left = clock(waiters), redis.call('PTTL', queue)
	local new = enter(queue, waiters, waiter, ticket == '' and now or ticket, left == -2)
	note(waiters, waiter, now, '0', ARGV[7], inbox)
	if emptied or left < FORGET / 2 then -- dead waiters may have been the last ones of the hash
		redis.call('PEXPIRE', queue, FORGET)
		redis.call('PEXPIRE', waiters, FORGET)
		-- The key is in the fence's slot. It is not in KEYS, so a user without the right to it can still wait.
		note_seen(string.gsub(fence, '^dlock:fence', 'dlock:seen'), lock, now / 1000, FORGET)
	end
	-- By its position, each waiter looks at another moment when the lease ends. If the end is far off, none looks then,
	-- unless no server notifies them.
	local position_matters = not (left == -2 or unsearched or pttl > LOOK_AGAIN and ARGV[10] ~= '1')
	return refusal(pttl, position_matters and redis.call('ZRANK', queue, waiter) or 0,
		new == 1 and ticket == '' and now or redis.call('ZSCORE', queue, waiter), new)
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
