-- Sets the lease time of a holder.
--
-- keys: pool
-- args: id:text ttl:lease only_longer:'1'|'0'
-- only_longer 1: the lease does not become shorter. Renewal in the background may come after a later request of the
-- holder.
-- Replies 1 if the id holds the permits, 0 if it does not.
-- Cost: O(log n), four commands. The first write needs no memory, so leases are renewed even if there is none left.
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
