-- Releases the lock, if the token holds it, and hands it over to the first live waiter, if there is one.
--
-- keys: lock fence queue waiters
-- args: token:text grant:''|'0'? waiter:text? leaves:'1'|''?
-- grant 0: the next waiter is notified to try (several servers). '': it is granted the lock.
-- waiter: the waiter with this token, which is not notified. leaves 1: it leaves the queue.
-- Replies 0 if the token did not hold the lock, 1 if it did, 2 if a waiter was notified, too; without the right to
-- publish no waiter is. After an error (the user has no right to set, say) the lock is free, if the script could free
-- it. Cost: O(1), three commands, without waiters; O(log n) with n waiters, one message.
local lock, queue, grant = KEYS[1], KEYS[3], ARGV[2] ~= '0'
if ARGV[4] == '1' then
	redis.pcall('ZREM', queue, ARGV[3])
	redis.pcall('HDEL', KEYS[4], ARGV[3])
end
if redis.call('GET', lock) ~= ARGV[1] then
	return 0
end
-- This is take_first() of handover.lua, except that an error does not end the script: the lock is released in any case.
local queued = grant and redis.pcall('ZPOPMIN', queue) or redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')
if not queued[1] then
	local deleted = redis.call('DEL', lock)
	return queued.err and queued or deleted
end

-- The common case ends here: even defining what follows costs time.
--#include fencing.lua
--#include handover.lua
local done, told = pcall(function()
	if not grant then
		redis.call('DEL', lock)
	end
	local next = serve(lock, queue, KEYS[4], grant and KEYS[2], ARGV[3], false, queued[1], queued[2])
	if grant and not next then
		redis.call('DEL', lock)
	end
	wake(queue, KEYS[4])
	return next
end)
if not done then
	free(lock)
	return failure(told)
end
return told and 2 or 1
