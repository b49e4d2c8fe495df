-- Gives the lock back, if it is the token's: to the first live waiter, or to everyone.
--
-- keys: 4
-- KEYS[1] the lock            KEYS[2] the fence
-- KEYS[3] the queue           KEYS[4] the waiters
-- ARGV[1] the token
-- ARGV[2] 1: whose turn it is, is granted the lock; 0: is told to try (several servers)
-- ARGV[3] the waiter that the token is, or was, of; '': none     ARGV[4] 1: it leaves the queue; 0: it stays, and need not be told
-- Replies 0 when it was not the token's, 1 when it was, 2 when a waiter was told besides. An error of what comes after the deletion
-- (the user may not tell the waiters, say) is one of a lock that is free.
-- Cost: O(1), three commands, when nobody waits; O(log n) with n waiters, one message.
local lock, fence, queue, waiters, grant = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[2] == '1'

if redis.call('EXISTS', queue) == 0 then
	return redis.call('GET', lock) == ARGV[1] and redis.call('DEL', lock) or 0
end

-- What follows costs more, to define alone; the common case is over.
--#include fencing.lua
--#include handover.lua
-- First of all it is free, whatever becomes of the waiters. And where no memory is left, only a script that has written
-- something may go on to write what needs some.
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
