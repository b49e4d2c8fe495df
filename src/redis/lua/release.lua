-- Releases the lock, if it is the token's: to the first live waiter, or to everyone.
--
-- keys: 4
-- KEYS[1] the lock            KEYS[2] the fence
-- KEYS[3] the queue           KEYS[4] the waiters
-- ARGV[1] the token
-- ARGV[2] 1: the next waiter is granted the lock; 0: it is notified to try (several servers)
-- ARGV[3] the waiter that the token belongs to; '': none     ARGV[4] 1: it leaves the queue; 0: it stays, and is not notified
-- Replies 0 when it was not the token's, 1 when it was, 2 when a waiter was notified, too. After an error that follows the deletion
-- (the user has no right to publish, say) the lock is free.
-- Cost: O(1), three commands, when nobody waits; O(log n) with n waiters, one message.
local lock, fence, queue, waiters, grant = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2] == '1'

if redis.call('EXISTS', queue) == 0 then
	return redis.call('GET', lock) == ARGV[1] and redis.call('DEL', lock) or 0
end

-- The common case ends here: even to define what follows costs time.
--#include fencing.lua
--#include handover.lua
-- First of all it is free, whatever becomes of the waiters. And when memory is full, only a script that has already written may
-- go on to write what needs memory.
local released = redis.call('GET', lock) == ARGV[1] and redis.call('DEL', lock) == 1
local done, told = pcall(function()
	if ARGV[4] == '1' then
		forget(queue, waiters, ARGV[3])
	end
	return released and serve(lock, queue, waiters, grant and fence, ARGV[3])
end)
if not done then
	if released then
		free(lock)
	end
	return failure(told)
end
return released and (told and 2 or 1) or 0
