-- Releases those of these locks that the token holds, and hands each over to the first live waiter, if there is one.
--
-- keys: locks...
-- args: token:text leaves:'1'|''? grant:''|'0'? waiter:text?
-- Keys are as in several_acquire.lua, grant and waiter as in release.lua. leaves 1: it leaves the queues, if it waits.
-- Replies 0 if the token did not hold all of them, 1 if it did, 2 if a waiter was notified, too. Cost: O(n) for n
-- locks, three commands without waiters.
local n, token, locks = #KEYS - 1, ARGV[1], {}
for i = 1, n, 3 do
	locks[#locks + 1] = KEYS[i]
end
if ARGV[2] ~= '1' and redis.call('EXISTS', unpack(KEYS, 1, n)) == #locks then
	local own = 0
	for _, lock in ipairs(locks) do
		own = own + (redis.pcall('GET', lock) == token and 1 or 0)
	end
	if own == #locks then
		redis.call('DEL', unpack(locks))
		return 1
	end
end

--#include fencing.lua
--#include handover.lua
local grant, me = ARGV[3] ~= '0', ARGV[4]
local had, notified, problem = 0, false, nil
for i = 1, n, 3 do
	local lock, queue, waiters = KEYS[i], KEYS[i + 1], KEYS[i + 2]
	local done, err = pcall(function()
		local holder, leaves = value_of(lock), ARGV[2] == '1'
		if leaves then
			forget(queue, waiters, '*' .. token)
		end
		had = had + (holder == token and 1 or 0)
		if holder == token or leaves and not holder then -- or the lock was kept for it
			if not grant then
				redis.call('DEL', lock)
			end
			local next = serve(lock, queue, waiters, grant and KEYS[#KEYS], me, false, take_first(queue, grant))
			notified = notified or next
			if grant and not next then
				redis.call('DEL', lock)
			end
		end
		wake(queue, waiters, me)
	end)
	if not done then -- the lock is released even after an error
		problem = problem or err
		if redis.pcall('GET', lock) == token then
			free(lock)
		end
	end
end
if problem then
	return failure(problem)
end
return had < #locks and 0 or notified and 2 or 1
