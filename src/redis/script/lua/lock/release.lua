-- Releases the lock, if it is the token's: to the first live waiter, or to everyone.
--
-- keys: lock fence queue waiters
-- args: token:text grant:''|'0'? waiter:text? leaves:'1'|''?
-- grant 0: the next waiter is notified to try (several servers). '': it is granted the lock.
-- waiter: that the token belongs to, which is not notified. leaves 1: it leaves the queue.
-- Replies 0 when it was not the token's, 1 when it was, 2 when a waiter was notified, too; without a right to publish
-- none is. After an error (the user has no right to set, say) the lock is free, if it could be freed. Cost: O(1), three
-- commands, without waiters; O(log n) with n waiters, one message.
local lock, queue, grant = KEYS[1], KEYS[3], ARGV[2] ~= '0'
if ARGV[4] == '1' then
	redis.pcall('ZREM', queue, ARGV[3])
	redis.pcall('HDEL', KEYS[4], ARGV[3])
end
if redis.call('GET', lock) ~= ARGV[1] then
	return 0
end
-- As take_first() in handover.lua. Whatever becomes of the waiters, the lock is given back.
local queued = grant and redis.pcall('ZPOPMIN', queue) or redis.pcall('ZRANGE', queue, 0, 0, 'WITHSCORES')
if not queued[1] then
	local deleted = redis.call('DEL', lock)
	return queued.err and queued or deleted
end

-- The common case ends here: even to define what follows costs time.
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
