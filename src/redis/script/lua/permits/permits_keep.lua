-- Makes a lease last for the lease time, if the id holds the permits. The script always writes, so that replicas can
-- confirm the reply (WAIT).
--
-- keys: pool
-- args: id:text ttl:ms shortens:'1'|'0' permits:int
-- ttl 0: the lease stays as it is, and nothing is written. shortens: the lease time is set even if more is left.
-- Replies 1 if the id holds the permits, 2 if it does not, or not all of them: a reader may have become the writer on
-- another server. Cost: O(log n), four commands.
--#include permits_clock.lua
local pool, held, ttl = KEYS[1], 'h' .. ARGV[1], tonumber(ARGV[2])
local ends, lasts, permits = unpack(redis.call('ZMSCORE', pool, held, '$until', 'w' .. ARGV[1]))
if not ends or tonumber(permits or 1) < tonumber(ARGV[4]) then
	redis.call('ZREM', pool, '$none') -- changes nothing, but a replica refuses it: what a replica lacks says nothing
	return 2
end
if ttl > 0 then
	local at = math.floor(clock(pool) / 1000) + ttl
	if ARGV[3] == '0' then
		at = math.max(at, ends)
	end
	local last = math.max(at + math.min(ttl, 60000), -(lasts or 0))
	redis.call('PEXPIREAT', pool, last)
	redis.call('ZADD', pool, 'XX', -last, '$until', at, held)
end
return 1
