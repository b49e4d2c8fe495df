-- Sets the lease time of a holder.
--
-- keys: pool
-- args: id:text ttl:lease only_longer:'1'|'0'
-- only_longer: it does not become shorter (renewal in the background, which may come after what the holder asked for
-- later).
-- Replies 1 when the permits are its, 0 when they are not.
-- Cost: O(log n), four commands. The first is a write that needs no memory: leases go on where there is none left.
--#include permits_clock.lua
local pool, held, ttl = KEYS[1], 'h' .. ARGV[1], tonumber(ARGV[2])
local n = redis.call('ZMSCORE', pool, held, '$until')
if not n[1] then
	return 0
end
local ends, last = math.floor(clock(pool) / 1000) + ttl, -(n[2] or 0)
if last < ends then
	last = ends + math.min(ttl, 60000)
end
redis.call('PEXPIREAT', pool, last)
redis.call('ZADD', pool, 'XX', -last, '$until')
redis.call('ZADD', pool, 'XX', ARGV[3] == '1' and math.max(ends, n[1]) or ends, held)
return 1
