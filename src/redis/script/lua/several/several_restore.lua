-- restore.lua for several locks at once: all of them are set again that have no key, or none.
--
-- keys: locks...
-- args: token:text ttl:ms fencing_token:int guard:ms
-- As in several_acquire_replicated.lua. ttl 0: the holder gives them back, and they were its own until now.
-- Replies 1 when the token has all now, or had them; 0 when another has one, or one is missing and the epoch is
-- settled: they are lost. It always writes, as restore.lua. Cost: O(n) for n locks.
--#include epoch.lua
--#include forged.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
--#include failure.lua
local n, fence, epoch, ttl, missing, foreign = #KEYS - 2, KEYS[#KEYS - 1], KEYS[#KEYS], tonumber(ARGV[2]), {}, false
for i = 1, n, 3 do
	local holder = redis.call('GET', KEYS[i])
	if not holder then
		missing[#missing + 1] = KEYS[i]
	end
	foreign = foreign or holder and holder ~= ARGV[1]
	redis.call('SET', KEYS[i], '', holder and 'NX' or 'XX', 'PX', 1) -- of no effect, but a replica refuses it
end
if foreign or missing[1] and check_epoch(epoch, ARGV[4]) == 0 then
	local known = redis.call('GET', epoch)
	redis.call('SET', epoch, known or '')
	return 0
end
local done, problem = pcall(function()
	for i = 1, n, 3 do
		local lock = KEYS[i]
		if ttl == 0 then
			redis.call('DEL', lock)
		else
			redis.call('SET', lock, ARGV[1], 'PX', string.format('%.0f', math.max(ttl, redis.call('PTTL', lock))))
		end
	end
	if ttl > 0 then
		raise_fence(fence, ARGV[3], redis.call('GET', fence))
	end
end)
if done then
	return 1
end
for _, lock in ipairs(missing) do -- all or none
	redis.pcall('DEL', lock)
end
return failure(problem)
