-- Removes a waiter whose time is up from the queues of all these locks (several servers). Locks that were kept for it
-- go to the next waiters.
--
-- keys: locks...
-- args: waiter:text
-- Keys are as in several_acquire.lua. waiter: its name in the queues. Replies 0. Cost: O(n) for n locks.
--#include fencing.lua
--#include handover.lua
local problem
for i = 1, #KEYS - 1, 3 do
	local lock, queue, waiters = KEYS[i], KEYS[i + 1], KEYS[i + 2]
	local done, err = pcall(function()
		forget(queue, waiters, ARGV[1])
		if not value_of(lock) then
			serve(lock, queue, waiters, nil, nil, false, take_first(queue, false))
		end
		wake(queue, waiters)
	end)
	problem = problem or not done and err
end
return problem and failure(problem) or 0
