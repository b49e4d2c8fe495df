-- Included in the scripts of several locks, behind handover.lua; never sent by itself.

-- Makes those of the locks free that are the token's: each to the first in its queue. `leaves`: it leaves the queues,
-- too, and those that were kept for it are the next one's. Whatever becomes of the waiters, they are given back.
-- Returns how many were the token's, whether a waiter was notified, and an error.
local function give_back(token, leaves)
	local had, notified, problem = 0, false, nil
	for i = 1, #KEYS - 1, 3 do
		local lock, queue, waiters = KEYS[i], KEYS[i + 1], KEYS[i + 2]
		local done, err = pcall(function()
			local holder = value_of(lock)
			if leaves then
				forget(queue, waiters, '*' .. token)
			end
			had = had + (holder == token and 1 or 0)
			if holder == token or leaves and not holder then
				local next = serve(lock, queue, waiters, KEYS[#KEYS], nil, false, take_first(queue, true))
				notified = notified or next
				if not next then
					redis.call('DEL', lock)
				end
			end
			if holder == token or leaves then
				wake(queue, waiters)
			end
		end)
		if not done then
			problem = problem or err
			if redis.pcall('GET', lock) == token then
				free(lock)
			end
		end
	end
	return had, notified, problem
end
