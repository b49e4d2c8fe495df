-- restore.lua for several locks at once: it sets all keys again that are missing, or none.
--
-- keys: locks...
-- args: token:text ttl:ms fencing_token:int guard:ms
-- Keys are as in several_acquire_replicated.lua. ttl 0: the holder releases the locks, which it held until now.
-- Replies 1 if the token holds all now, or held them. Replies 0 if another token holds one, or one is missing and the
-- epoch is settled: they are lost. Like restore.lua it always writes. Cost: O(n) for n locks.
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
	redis.call('SET', KEYS[i], '', holder and 'NX' or 'XX', 'PX', 1) -- changes nothing, but a replica refuses it
end
local lost = foreign or missing[1] and check_epoch(epoch, ARGV[4]) == 0
if lost or ttl == 0 then
	redis.call('SET', epoch, redis.call('GET', epoch) or '')
end
if lost then
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
