-- Restores permits of a holder, if a failover led to a server that lacks some of them. While that server's epoch is not
-- settled, no other client can have been granted them. The pool may exceed its capacity then, because the server may
-- not know all releases of other holders.
--
-- keys: pool epoch
-- args: id:text ttl:ms fencing_token:int guard:ms permits:int
-- ttl 0: the holder releases the permits, which it held until now.
-- Replies 1 if the id holds them now, or held them; 0 if the epoch is settled: they are lost. The script
-- always writes, so that replicas can confirm its reply (WAIT): a replaced master has no replicas. Cost: O(log n).
--#include epoch.lua
--#include forged.lua
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
if is_forged(ARGV[3]) then
	return redis.error_reply(FORGED)
end
local pool, id, ttl, permits = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[5])
local state, ends, had = read(pool, clock(pool)), unpack(redis.call('ZMSCORE', pool, 'h' .. id, 'w' .. id))
had = ends and tonumber(had or 1) or 0

local function write()
	redis.call('SET', KEYS[2], redis.call('GET', KEYS[2]) or '')
end

if had < permits and check_epoch(KEYS[2], ARGV[4]) == 0 then
	write()
	return 0
end
state.fence = math.max(state.fence, tonumber(ARGV[3]))
if ttl == 0 then
	if ends then
		drop(state, { id }, { had })
	else
		write()
	end
	return 1
end
local at = math.max(state.now + ttl, ends or 0)
if had >= permits then
	redis.call('ZADD', pool, -state.fence, '$fence', at, 'h' .. id)
	write() -- they may have been so
else
	hold(pool, id, permits, state.used - had, state.fence, at)
end
keep(state, at)
return 1
