-- Releases permits, and grants them to the first waiters for which they are enough.
--
-- keys: pool
-- args: dlock_permits_attempt *attempt { id:text permits:int?inbox capacity:count?inbox inbox:inbox? }
-- With an inbox, the waiter leaves the queue, too. Its name there consists of these words, as in permits_acquire.lua.
-- Replies 0 if the id held nothing, 1 if it held permits, 2 if waiters were granted some of them, too. If the request
-- is repeated after a lost reply, 0 means "done" as long as the lease cannot have expired: no other client reclaims it
-- before. Cost: O(log n), three commands, for one holder of a pool without waiters.
local pool, held = KEYS[1], 'h' .. ARGV[1]
if not ARGV[2] then
	local queue, used, permits = unpack(redis.call('ZMSCORE', pool, '$queue', '$used', 'w' .. ARGV[1]))
	if not queue then
		if redis.call('ZREM', pool, held, permits and 'w' .. ARGV[1] or held) == 0 then
			return 0
		end
		redis.call('ZADD', pool, used - (permits or 1), '$used')
		return 1
	end
end

-- The common case ends here: even defining what follows costs time.
--#include permits_clock.lua
--#include permits_pool.lua
--#include permits_queue.lua
if ARGV[2] then
	redis.call('ZREM', pool, waiter_of(ARGV[1], ARGV[2], ARGV[3], ARGV[4]))
end
local state = read(pool, clock(pool))
local ends, permits = unpack(redis.call('ZMSCORE', pool, held, 'w' .. ARGV[1]))
if ends then
	drop(state, { ARGV[1] }, { permits })
end
local granted = serve(state)
return ends and (granted and 2 or 1) or 0
