-- repair.lua for several locks at once. The token holds all of them then, or only what it held before.
--
-- keys: locks...
-- args: token:text ttl:lease fencing_token:int
-- Keys are as in several_acquire.lua. Replies 1 if the token holds all now, 0 if another token holds one. Cost: O(n)
-- for n locks.
--#include forged.lua
--#include failure.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
local fence, missing = KEYS[#KEYS], {}
local last = redis.call('GET', fence)
for i = 1, #KEYS - 1, 3 do
	local holder = redis.call('GET', KEYS[i])
	if holder and holder ~= ARGV[1] then
		return 0
	elseif not holder then
		missing[#missing + 1] = KEYS[i]
	end
end
local done, problem = pcall(function()
	for i = 1, #KEYS - 1, 3 do
		redis.call('SET', KEYS[i], ARGV[1], 'PX', math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[i])))
	end
	raise_fence(fence, ARGV[3], last)
end)
if done then
	return 1
end
for _, lock in ipairs(missing) do
	redis.pcall('DEL', lock)
end
return failure(problem)
