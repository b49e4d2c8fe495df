-- raise.lua for several locks at once, if the token holds all of them.
--
-- keys: locks...
-- args: token:text fencing_token:int confirmed:'1'|''?
-- Keys are as in several_acquire.lua. confirmed 1: the script always writes, so that replicas can confirm that the
-- fence is so far, even if another request has raised it. Replies as raise.lua. Cost: O(n) for n locks.
--#include forged.lua
if is_forged(ARGV[2]) then
	return redis.error_reply(FORGED)
end
local fence = KEYS[#KEYS]
for i = 1, #KEYS - 1, 3 do
	if redis.call('GET', KEYS[i]) ~= ARGV[1] then
		return 0
	end
end
local last = redis.call('GET', fence)
raise_fence(fence, ARGV[2], last)
if ARGV[3] == '1' and tonumber(last or 0) >= tonumber(ARGV[2]) then
	redis.call('SET', fence, last)
end
return 1
