-- Removes a waiter whose time is up from the queue.
--
-- keys: lock fence queue waiters
-- args: waiter:text grant:''|'0'?
-- grant 0: the next waiter is notified to try (several servers); left out: it is granted the lock.
-- Replies 1 if the waiter was granted the lock in that instant and holds it, otherwise 0. Its own turn goes to the next
-- waiter. Cost: O(log n) with n waiters.
--#include fencing.lua
--#include handover.lua
local holder
local done, problem = pcall(function()
	holder = value_of(KEYS[1])
	forget(KEYS[3], KEYS[4], ARGV[1])
	local grant = ARGV[2] ~= '0'
	if not holder then
		if not serve(KEYS[1], KEYS[3], KEYS[4], grant and KEYS[2], nil, false, take_first(KEYS[3], grant)) then
			redis.call('DEL', KEYS[1])
		end
	end
	wake(KEYS[3], KEYS[4])
end)
if not done then
	if holder == false then
		free(KEYS[1])
	end
	return failure(problem)
end
return holder == ARGV[1] and 1 or 0
