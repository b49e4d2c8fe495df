-- keep.lua for several locks at once: it always writes, so that replicas can confirm it (WAIT).
--
-- keys: locks...
-- args: token:text ttl:ms shortens:'1'|'0'
-- The locks alone. ttl 0: as they are, and nothing is written. shortens: also where it is shorter than what is left.
-- Replies 1 when all were the token's, 2 when some have no key and the others were, 0 when one is another token's.
-- Cost: O(n) for n locks.
local token, ttl, missing, foreign = ARGV[1], tonumber(ARGV[2]), nil, nil
for _, lock in ipairs(KEYS) do
	local holder = redis.call('GET', lock)
	if not holder then
		missing = lock
	elseif holder ~= token then
		foreign = lock
	end
end
if missing or foreign then
	-- Of no effect, but a replica refuses it: what that has not got says nothing.
	redis.call('SET', foreign or missing, '', foreign and 'NX' or 'XX', 'PX', 1)
	return foreign and 0 or 2
end
for _, lock in ipairs(ttl > 0 and KEYS or {}) do
	redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))
end
return 1
