-- keep.lua for several locks at once. It always writes, so that replicas can confirm the reply (WAIT).
--
-- keys: locks...
-- args: token:text ttl:ms shortens:'1'|'0'
-- The keys are the locks alone. ttl 0: the leases stay as they are, and nothing is written. shortens: the lease time is
-- set even if more is left.
-- Replies 1 if the token holds all locks, 2 if some have no key and it holds the rest, 0 if another token holds one.
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
	-- This changes nothing, but a replica refuses it: what a replica lacks says nothing.
	redis.call('SET', foreign or missing, '', foreign and 'NX' or 'XX', 'PX', 1)
	return foreign and 0 or 2
end
for _, lock in ipairs(ttl > 0 and KEYS or {}) do
	redis.call('PEXPIRE', lock, ARGV[3] == '1' and ttl or math.max(ttl, redis.call('PTTL', lock)))
end
return 1
